; The hash xxHash32 of keys of 16 bytes. Each item computes a key.
const P1: i32 = 2654435761
const P2: i32 = 2246822519
const P3: i32 = 3266489917

fn lane(start: i32, word: i32) -> i32 { rotl(start + word * P2, 13) * P1 }

kernel xxhash32(keys: in i32, seed: i32, hashes: out i32) {
  let i = item_id()
  let a = lane(seed + P1 + P2, keys[4 * i])
  let b = lane(seed + P2, keys[4 * i + 1])
  let c = lane(seed, keys[4 * i + 2])
  let d = lane(seed - P1, keys[4 * i + 3])
  var h = rotl(a, 1) + rotl(b, 7) + rotl(c, 12) + rotl(d, 18) + 16
  h = (h ^ h >>_u 15) * P2
  h = (h ^ h >>_u 13) * P3
  hashes[i] = h ^ h >>_u 16
}
; run: halu, ptx: @xxhash32 items=128 keys=random(512, 1) seed=42 hashes=zeros(128)
