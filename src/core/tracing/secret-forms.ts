/** Shorter values occur by chance in ordinary text, so hiding them would only spoil it. */
export const MIN_SECRET_LENGTH = 6;

/** Words too common to hide, whatever they are the value of. */
const COMMON = new Set(
  (
    'enabled disabled production development staging testing sandbox default standard verbose warning silent localhost ' +
    '127.0.0.1 0.0.0.0 utf-8 application/json text/event-stream undefined true false null none string number boolean ' +
    'object array integer required optional missing invalid expired unknown basic bearer digest token password secret ' +
    'username anonymous hidden public private shared session cookie oauth oauth2 apikey api_key login logout success ' +
    'failed failure error pending active inactive value redacted'
  ).split(' '),
);

export function isCommonWord(text: string): boolean {
  return COMMON.has(text.toLowerCase());
}

/**
 * Every spelling in which one secret value can turn up inside a string: as it is, inside JSON,
 * in a URL (both ways of encoding, both cases of the hex digits) and inside base64.
 */
export function formsOf(secret: string): string[] {
  const forms = new Set<string>();
  const text = secret.trim();
  for (const plain of [secret, text]) {
    forms.add(plain);
    forms.add(JSON.stringify(plain).slice(1, -1));
  }
  const wellFormed = text.toWellFormed();
  const encoded = encodeURIComponent(wellFormed);
  const query = new URLSearchParams([['', wellFormed]]).toString().slice(1);
  for (const url of [encoded, query, query.replaceAll('+', '%20'), encodeURI(wellFormed)]) {
    forms.add(url);
    forms.add(url.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase()));
  }
  for (const base64 of base64Cores(new TextEncoder().encode(wellFormed))) {
    forms.add(base64);
    forms.add(base64.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return [...forms].filter((form) => form.length >= MIN_SECRET_LENGTH);
}

/**
 * What base64 of any longer text must contain when the bytes stand in it. Base64 packs 3 bytes
 * into 4 characters, so there are three alignments; the characters at the edges also carry bits
 * of the neighbours and are left off.
 */
function base64Cores(bytes: Uint8Array): string[] {
  return [0, 1, 2].map((shift) => {
    const padded = new Uint8Array(shift + bytes.length);
    padded.set(bytes, shift);
    const encoded = btoa(Array.from(padded, (byte) => String.fromCharCode(byte)).join(''));
    const firstWhole = Math.ceil((8 * shift) / 6);
    const endWhole = Math.floor((8 * padded.length) / 6);
    return encoded.slice(firstWhole, endWhole);
  });
}
