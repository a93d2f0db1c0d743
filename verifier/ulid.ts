/**
 * ULIDs: 128-bit identifiers that sort by the time they were made (github.com/ulid/spec).
 *
 * Written here because the `ulid` package pulls in `node:crypto` on Deno, which alone costs a quarter of a cold start.
 *
 * @module
 */

const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const MAXIMUM_TIME = 2 ** 48 - 1;

/**
 * A new ULID: 10 digits of time, 16 random ones (80 bits).
 * @param time milliseconds since 1970, default now
 * @throws {RangeError} unless `time` is an integer from 0 to 2^48 - 1
 */
export function ulid(time: number = Date.now()): string {
  if (!Number.isInteger(time) || time < 0 || time > MAXIMUM_TIME) {
    throw new RangeError(
      `Cannot make a ULID: the time must be an integer from 0 to ${MAXIMUM_TIME}, it is ${time}`,
    );
  }
  let digits = "";
  for (let i = 0, rest = time; i < 10; i++) {
    digits = DIGITS[rest % 32]! + digits;
    rest = Math.floor(rest / 32);
  }
  // 32 divides 256, so the low five bits of a random byte are a fair digit.
  for (const byte of crypto.getRandomValues(new Uint8Array(16))) digits += DIGITS[byte & 31]!;
  return digits;
}
