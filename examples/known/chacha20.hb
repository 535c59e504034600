; The block function of ChaCha20 (RFC 8439): item i makes block i, 16 words, of key, counter and nonce in 11 words.
kernel @chacha20(%key: in i32, %out: out i32) {
^entry:
  %c2 = const.i32 16
  %c4 = const.i32 1634760805
  %c5 = const.i32 857760878
  %c6 = const.i32 2036477234
  %c7 = const.i32 1797285236
  %c19 = const.i32 10
  %c20 = const.i32 0
  %c45 = const.i32 12
  %c47 = const.i32 20
  %c52 = const.i32 8
  %c54 = const.i32 24
  %c59 = const.i32 7
  %c61 = const.i32 25
  %c204 = const.i32 1
  %v1 = item_id
  %v3 = mul.i32 %v1, %c2
  %v8 = load %key
  %v9 = load %key[1]
  %v10 = load %key[2]
  %v11 = load %key[3]
  %v12 = load %key[4]
  %v13 = load %key[5]
  %v14 = load %key[6]
  %v15 = load %key[7]
  %v16 = load %key[8]
  %v17 = load %key[9]
  %v18 = load %key[10]
  br ^l1(%c20, %c4, %c5, %c6, %c7, %v8, %v9, %v10, %v11, %v12, %v13, %v14, %v15, %v1, %v16, %v17, %v18)
^l1(%v21: i32, %v22: i32, %v23: i32, %v24: i32, %v25: i32, %v26: i32, %v27: i32, %v28: i32, %v29: i32, %v30: i32, %v31: i32, %v32: i32, %v33: i32, %v34: i32, %v35: i32, %v36: i32, %v37: i32):
  %v38 = add.i32 %v22, %v26
  %v39 = xor.i32 %v34, %v38
  %v40 = shl.i32 %v39, %c2
  %v41 = shr_u.i32 %v39, %c2
  %v42 = or.i32 %v40, %v41
  %v43 = add.i32 %v30, %v42
  %v44 = xor.i32 %v26, %v43
  %v46 = shl.i32 %v44, %c45
  %v48 = shr_u.i32 %v44, %c47
  %v49 = or.i32 %v46, %v48
  %v50 = add.i32 %v38, %v49
  %v51 = xor.i32 %v42, %v50
  %v53 = shl.i32 %v51, %c52
  %v55 = shr_u.i32 %v51, %c54
  %v56 = or.i32 %v53, %v55
  %v57 = add.i32 %v43, %v56
  %v58 = xor.i32 %v49, %v57
  %v60 = shl.i32 %v58, %c59
  %v62 = shr_u.i32 %v58, %c61
  %v63 = or.i32 %v60, %v62
  %v64 = add.i32 %v23, %v27
  %v65 = xor.i32 %v35, %v64
  %v66 = shl.i32 %v65, %c2
  %v67 = shr_u.i32 %v65, %c2
  %v68 = or.i32 %v66, %v67
  %v69 = add.i32 %v31, %v68
  %v70 = xor.i32 %v27, %v69
  %v71 = shl.i32 %v70, %c45
  %v72 = shr_u.i32 %v70, %c47
  %v73 = or.i32 %v71, %v72
  %v74 = add.i32 %v64, %v73
  %v75 = xor.i32 %v68, %v74
  %v76 = shl.i32 %v75, %c52
  %v77 = shr_u.i32 %v75, %c54
  %v78 = or.i32 %v76, %v77
  %v79 = add.i32 %v69, %v78
  %v80 = xor.i32 %v73, %v79
  %v81 = shl.i32 %v80, %c59
  %v82 = shr_u.i32 %v80, %c61
  %v83 = or.i32 %v81, %v82
  %v84 = add.i32 %v24, %v28
  %v85 = xor.i32 %v36, %v84
  %v86 = shl.i32 %v85, %c2
  %v87 = shr_u.i32 %v85, %c2
  %v88 = or.i32 %v86, %v87
  %v89 = add.i32 %v32, %v88
  %v90 = xor.i32 %v28, %v89
  %v91 = shl.i32 %v90, %c45
  %v92 = shr_u.i32 %v90, %c47
  %v93 = or.i32 %v91, %v92
  %v94 = add.i32 %v84, %v93
  %v95 = xor.i32 %v88, %v94
  %v96 = shl.i32 %v95, %c52
  %v97 = shr_u.i32 %v95, %c54
  %v98 = or.i32 %v96, %v97
  %v99 = add.i32 %v89, %v98
  %v100 = xor.i32 %v93, %v99
  %v101 = shl.i32 %v100, %c59
  %v102 = shr_u.i32 %v100, %c61
  %v103 = or.i32 %v101, %v102
  %v104 = add.i32 %v25, %v29
  %v105 = xor.i32 %v37, %v104
  %v106 = shl.i32 %v105, %c2
  %v107 = shr_u.i32 %v105, %c2
  %v108 = or.i32 %v106, %v107
  %v109 = add.i32 %v33, %v108
  %v110 = xor.i32 %v29, %v109
  %v111 = shl.i32 %v110, %c45
  %v112 = shr_u.i32 %v110, %c47
  %v113 = or.i32 %v111, %v112
  %v114 = add.i32 %v104, %v113
  %v115 = xor.i32 %v108, %v114
  %v116 = shl.i32 %v115, %c52
  %v117 = shr_u.i32 %v115, %c54
  %v118 = or.i32 %v116, %v117
  %v119 = add.i32 %v109, %v118
  %v120 = xor.i32 %v113, %v119
  %v121 = shl.i32 %v120, %c59
  %v122 = shr_u.i32 %v120, %c61
  %v123 = or.i32 %v121, %v122
  %v124 = add.i32 %v50, %v83
  %v125 = xor.i32 %v118, %v124
  %v126 = shl.i32 %v125, %c2
  %v127 = shr_u.i32 %v125, %c2
  %v128 = or.i32 %v126, %v127
  %v129 = add.i32 %v99, %v128
  %v130 = xor.i32 %v83, %v129
  %v131 = shl.i32 %v130, %c45
  %v132 = shr_u.i32 %v130, %c47
  %v133 = or.i32 %v131, %v132
  %v134 = add.i32 %v124, %v133
  %v135 = xor.i32 %v128, %v134
  %v136 = shl.i32 %v135, %c52
  %v137 = shr_u.i32 %v135, %c54
  %v138 = or.i32 %v136, %v137
  %v139 = add.i32 %v129, %v138
  %v140 = xor.i32 %v133, %v139
  %v141 = shl.i32 %v140, %c59
  %v142 = shr_u.i32 %v140, %c61
  %v143 = or.i32 %v141, %v142
  %v144 = add.i32 %v74, %v103
  %v145 = xor.i32 %v56, %v144
  %v146 = shl.i32 %v145, %c2
  %v147 = shr_u.i32 %v145, %c2
  %v148 = or.i32 %v146, %v147
  %v149 = add.i32 %v119, %v148
  %v150 = xor.i32 %v103, %v149
  %v151 = shl.i32 %v150, %c45
  %v152 = shr_u.i32 %v150, %c47
  %v153 = or.i32 %v151, %v152
  %v154 = add.i32 %v144, %v153
  %v155 = xor.i32 %v148, %v154
  %v156 = shl.i32 %v155, %c52
  %v157 = shr_u.i32 %v155, %c54
  %v158 = or.i32 %v156, %v157
  %v159 = add.i32 %v149, %v158
  %v160 = xor.i32 %v153, %v159
  %v161 = shl.i32 %v160, %c59
  %v162 = shr_u.i32 %v160, %c61
  %v163 = or.i32 %v161, %v162
  %v164 = add.i32 %v94, %v123
  %v165 = xor.i32 %v78, %v164
  %v166 = shl.i32 %v165, %c2
  %v167 = shr_u.i32 %v165, %c2
  %v168 = or.i32 %v166, %v167
  %v169 = add.i32 %v57, %v168
  %v170 = xor.i32 %v123, %v169
  %v171 = shl.i32 %v170, %c45
  %v172 = shr_u.i32 %v170, %c47
  %v173 = or.i32 %v171, %v172
  %v174 = add.i32 %v164, %v173
  %v175 = xor.i32 %v168, %v174
  %v176 = shl.i32 %v175, %c52
  %v177 = shr_u.i32 %v175, %c54
  %v178 = or.i32 %v176, %v177
  %v179 = add.i32 %v169, %v178
  %v180 = xor.i32 %v173, %v179
  %v181 = shl.i32 %v180, %c59
  %v182 = shr_u.i32 %v180, %c61
  %v183 = or.i32 %v181, %v182
  %v184 = add.i32 %v114, %v63
  %v185 = xor.i32 %v98, %v184
  %v186 = shl.i32 %v185, %c2
  %v187 = shr_u.i32 %v185, %c2
  %v188 = or.i32 %v186, %v187
  %v189 = add.i32 %v79, %v188
  %v190 = xor.i32 %v63, %v189
  %v191 = shl.i32 %v190, %c45
  %v192 = shr_u.i32 %v190, %c47
  %v193 = or.i32 %v191, %v192
  %v194 = add.i32 %v184, %v193
  %v195 = xor.i32 %v188, %v194
  %v196 = shl.i32 %v195, %c52
  %v197 = shr_u.i32 %v195, %c54
  %v198 = or.i32 %v196, %v197
  %v199 = add.i32 %v189, %v198
  %v200 = xor.i32 %v193, %v199
  %v201 = shl.i32 %v200, %c59
  %v202 = shr_u.i32 %v200, %c61
  %v203 = or.i32 %v201, %v202
  %v205 = add.i32 %v21, %c204
  %v206 = icmp.lt_s.i32 %v205, %c19
  br_if %v206, ^l1(%v205, %v134, %v154, %v174, %v194, %v203, %v143, %v163, %v183, %v179, %v199, %v139, %v159, %v158, %v178, %v198, %v138), ^d1
^d1:
  %v207 = add.i32 %v134, %c4
  store %v207, %out[%v3]
  %v208 = add.i32 %v154, %c5
  store %v208, %out[%v3 + 1]
  %v209 = add.i32 %v174, %c6
  store %v209, %out[%v3 + 2]
  %v210 = add.i32 %v194, %c7
  store %v210, %out[%v3 + 3]
  %v211 = add.i32 %v203, %v8
  store %v211, %out[%v3 + 4]
  %v212 = add.i32 %v143, %v9
  store %v212, %out[%v3 + 5]
  %v213 = add.i32 %v163, %v10
  store %v213, %out[%v3 + 6]
  %v214 = add.i32 %v183, %v11
  store %v214, %out[%v3 + 7]
  %v215 = add.i32 %v179, %v12
  store %v215, %out[%v3 + 8]
  %v216 = add.i32 %v199, %v13
  store %v216, %out[%v3 + 9]
  %v217 = add.i32 %v139, %v14
  store %v217, %out[%v3 + 10]
  %v218 = add.i32 %v159, %v15
  store %v218, %out[%v3 + 11]
  %v219 = add.i32 %v158, %v1
  store %v219, %out[%v3 + 12]
  %v220 = add.i32 %v178, %v16
  store %v220, %out[%v3 + 13]
  %v221 = add.i32 %v198, %v17
  store %v221, %out[%v3 + 14]
  %v222 = add.i32 %v138, %v18
  store %v222, %out[%v3 + 15]
  ret
}

; run: halu, vp1, ptx: @chacha20 items=8 key=random(11, 103)
; run: halu, vp1, ptx: @chacha20 items=8 key=random(11, 203)
