export type Entry = Readonly<Record<string, unknown>>;
export type Entries = Readonly<Record<string, Entry>>;

export interface ServersChange {
  readonly remove: readonly string[];
  /** Added; or, where an entry of the name is there, put over its keys. */
  readonly set: Entries;
}

/** A kind of file that holds servers. Changes leave the rest of the text as it is. */
export interface ServersFormat {
  /** Null when there is no list of servers. Throws `config_invalid` when the text cannot be read. */
  read(file: string, text: string, path: readonly string[]): Entries | null;
  change(file: string, text: string, path: readonly string[], change: ServersChange): string;
  /** The text with the servers of `original`, written as they are written there. */
  graft(file: string, text: string, path: readonly string[], original: string): string;
}
