/** Randomness and digests, passed in so that the floors below stay pure. */
export interface Crypto {
  randomUuid(): string;
  /** SHA-256 of the UTF-8 text, in hex. */
  sha256(text: string): string;
}
