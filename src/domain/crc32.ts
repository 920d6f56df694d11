/** The remainders of the sixteen half-bytes, for the reversed polynomial 0xEDB88320. */
const remainders = [
  0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
  0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
];

/**
 * CRC-32 of `text`, which is ASCII, as zip and gzip have it (ISO 3309): an unsigned integer of 32 bits. Written out because
 * node:zlib, which has it too, brings all of its streams with it and costs a start more than a millisecond.
 */
export function crc32(text: string): number {
  let crc = -1;
  for (let i = 0; i < text.length; i += 1) {
    crc ^= text.charCodeAt(i);
    crc = (remainders[crc & 15] ?? 0) ^ (crc >>> 4);
    crc = (remainders[crc & 15] ?? 0) ^ (crc >>> 4);
  }
  return ~crc >>> 0;
}
