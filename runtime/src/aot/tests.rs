//! Soft arithmetic against what it stands for, and kernels.
