// Tests graphs of kernels, as tinygrad uses them.
#include "checks.h"

#define TEXT                                                                                                \
    HEAD ".visible .entry step(.param .u64 x, .param .u32 factor, .param .u32 term)\n{\n"                    \
         ".reg .b32 %r<5>; .reg .b64 %d;\nld.param.u64 %d, [x]; ld.param.u32 %r0, [factor];\n"               \
         "ld.param.u32 %r1, [term]; ld.global.u32 %r2, [%d]; mad.lo.u32 %r3, %r2, %r0, %r1;\n"              \
         "st.global.u32 [%d], %r3;\nret;\n}\n"

static CUDA_KERNEL_NODE_PARAMS_v1 node_params(CUfunction function, void **params, void **extra) {
    return (CUDA_KERNEL_NODE_PARAMS_v1){function, {1, 1, 1}, {1, 1, 1}, 0, params, extra};
}

static unsigned word_at(CUdeviceptr address) {
    unsigned word = 0;
    OK(cuMemcpyDtoH_v2(&word, address, 4));
    return word;
}

static void nodes_run_in_order_of_their_dependencies(CUfunction step) {
    CUgraph graph = NULL;
    CUgraphNode first = NULL, second = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr x = allocate(4);
    unsigned three = 3, one = 1, zero = 0;
    OK(cuMemsetD32_v2(x, 1, 1));
    OK(cuGraphCreate(&graph, 0));
    // x becomes 3 x + 0.
    void *params[] = {&x, &three, &zero};
    CUDA_KERNEL_NODE_PARAMS_v1 node = node_params(step, params, NULL);
    OK(cuGraphAddKernelNode(&first, graph, NULL, 0, &node));
    // x becomes x + 1, by parameters in one buffer.
    struct {
        CUdeviceptr x;
        unsigned factor, term;
    } packed = {x, 1, 1};
    size_t bytes = sizeof packed;
    void *extra[] = {LAUNCH_PARAM_BUFFER_POINTER, &packed, LAUNCH_PARAM_BUFFER_SIZE, &bytes, LAUNCH_PARAM_END};
    node = node_params(step, NULL, extra);
    OK(cuGraphAddKernelNode(&second, graph, &first, 1, &node));
    CHECK(first != NULL && second != NULL && first != second);
    // A node has copies of its parameters.
    three = one = 100;
    packed.term = 100;
    OK(cuGraphInstantiate_v2(&exec, graph, NULL, NULL, 0));
    CHECK(word_at(x) == 1);
    OK(cuGraphLaunch(exec, NULL));
    CHECK(word_at(x) == 4);
    OK(cuGraphLaunch(exec, STREAM_PER_THREAD));
    CHECK(word_at(x) == 13);
    // An executable graph can get other parameters, and outlives its graph.
    packed.term = 10;
    OK(cuGraphExecKernelNodeSetParams(exec, second, &node));
    OK(cuGraphDestroy(graph));
    OK(cuGraphLaunch(exec, NULL));
    CHECK(word_at(x) == 49);
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuGraphLaunch(exec, (CUstream)&packed));
    OK(cuGraphExecDestroy(exec));
    CHECK(cuGraphLaunch(exec, NULL) != CUDA_SUCCESS && cuGraphExecDestroy(exec) != CUDA_SUCCESS);
    CHECK(word_at(x) == 49);
    OK(cuMemFree_v2(x));
}

static void wrong_nodes_are_refused(CUfunction step) {
    CUgraph graph = NULL, destroyed = NULL;
    CUgraphNode added = NULL;
    CUgraphExec exec = NULL;
    CUdeviceptr x = allocate(4);
    unsigned one = 1;
    void *params[] = {&x, &one, &one};
    const CUDA_KERNEL_NODE_PARAMS_v1 right = node_params(step, params, NULL), without_params = node_params(step, NULL, NULL);
    const CUDA_KERNEL_NODE_PARAMS_v1 without_function = node_params(NULL, params, NULL);
    const CUgraphNode wrong_dependency = (CUgraphNode)&one;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphCreate(NULL, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphCreate(&graph, 1));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphCreate(&destroyed, 0));
    OK(cuGraphDestroy(destroyed));
    CHECK(cuGraphDestroy(destroyed) != CUDA_SUCCESS);
    CHECK(cuGraphAddKernelNode(&added, destroyed, NULL, 0, &right) != CUDA_SUCCESS);
    CHECK(cuGraphAddKernelNode(&added, graph, NULL, 0, &without_function) != CUDA_SUCCESS);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(&added, graph, NULL, 0, &without_params));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(&added, graph, NULL, 0, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(&added, graph, NULL, 1, &right));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(&added, graph, &wrong_dependency, 1, &right));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(NULL, graph, NULL, 0, &right));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate_v2(NULL, graph, NULL, NULL, 0));
    // None of these nodes was added.
    OK(cuMemsetD32_v2(x, 5, 1));
    OK(cuGraphInstantiate_v2(&exec, graph, NULL, NULL, 0));
    OK(cuGraphLaunch(exec, NULL));
    CHECK(word_at(x) == 5);
    CHECK(cuGraphExecKernelNodeSetParams(exec, wrong_dependency, &right) != CUDA_SUCCESS);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuMemFree_v2(x));
}

int main(void) {
    const CUcontext context = start();
    const CUfunction step = function(load(TEXT), "step");
    nodes_run_in_order_of_their_dependencies(step);
    wrong_nodes_are_refused(step);
    OK(cuCtxDestroy_v2(context));
    return finish();
}
