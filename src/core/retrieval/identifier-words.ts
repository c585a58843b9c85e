/** `readFile`, `read_file`, `read-file` -> `read file`: models of language know words, not spellings. */
export function identifierWords(identifier: string): string {
  return identifier
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .replace(/[\s_\-.:/]+/g, ' ')
    .trim()
    .toLowerCase();
}
