import type { Span } from './text-search.ts';

const DEFAULTS = {
  /** Of one command line, in UTF-16 units. */
  maxLine: 512,
};

/** Programs that take a password in an option of one letter, which says nothing elsewhere. */
const COMMAND =
  /(?<![\w.-])(?:mysql|mysqldump|mysqladmin|mysqlimport|mariadb|mariadb-dump|sshpass|plink|pscp|psftp|redis-cli|ldapsearch|ldapmodify|ldapadd|docker|podman|helm|curl|wget|http|smbclient|rpcclient|mongo|mongosh|mongodump|sqlcmd|openssl|unzip|zip|7z|az|ftp|lftp)(?![\w-])/g;
const WORD = /"[^"\n]{0,256}"|'[^'\n]{0,256}'|[^\s"'|;&]+/g;

interface Options {
  /** The value follows in the same word. */
  readonly joined?: RegExp;
  /** The value is the next word. */
  readonly next?: readonly string[];
  /** A name stands before it: `joe:secret`, `joe%secret`. */
  readonly hasName?: true;
  /** To other subcommands the option means something else: `docker run -p 80:80`. */
  readonly onlyWith?: string;
}

const MYSQL: Options = { joined: /^-p(?=.|$)/ };
const PUTTY: Options = { next: ['-pw'] };
const LDAP: Options = { next: ['-w'] };
const CONTAINERS: Options = { next: ['-p'], onlyWith: 'login' };
const CURL: Options = {
  joined: /^-u(?=[^:]{1,128}:)/,
  next: ['-u', '--user', '-U', '--proxy-user'],
  hasName: true,
};
const SAMBA: Options = { next: ['-U'], hasName: true };
const MONGO: Options = { next: ['-p'] };
const ZIP: Options = { joined: /^-P(?=.)/, next: ['-P'] };
const FTP: Options = { next: ['-u'], hasName: true };

/** By what the program's name begins with. */
const PROGRAMS: readonly (readonly [start: string, options: Options])[] = [
  ['mysql', MYSQL],
  ['mariadb', MYSQL],
  ['sshpass', { joined: /^-p(?=.)/, next: ['-p'] }],
  ['plink', PUTTY],
  ['pscp', PUTTY],
  ['psftp', PUTTY],
  ['redis-cli', { next: ['-a'] }],
  ['ldap', LDAP],
  ['docker', CONTAINERS],
  ['podman', CONTAINERS],
  ['helm', CONTAINERS],
  ['az', CONTAINERS],
  ['curl', CURL],
  ['wget', CURL],
  ['http', { next: ['-a', '--auth'], hasName: true }],
  ['smbclient', SAMBA],
  ['rpcclient', SAMBA],
  ['mongo', MONGO],
  ['sqlcmd', ZIP],
  ['openssl', { next: ['-passin', '-passout', '-pass', '-k'] }],
  ['unzip', ZIP],
  ['zip', ZIP],
  ['7z', { joined: /^-p(?=.)/ }],
  ['lftp', FTP],
  ['ftp', FTP],
];

/** Passwords on command lines: `mysql -pX`, `sshpass -p X`, `curl -u joe:X`. */
export function findInCommands(text: string, spans: Span[]): void {
  COMMAND.lastIndex = 0;
  for (let match = COMMAND.exec(text); match !== null; match = COMMAND.exec(text)) {
    const start = COMMAND.lastIndex;
    const name = match[0];
    const options = PROGRAMS.find(([program]) => name.startsWith(program))?.[1];
    const line = text.slice(start, start + DEFAULTS.maxLine).split('\n', 1)[0]!;
    if (!options || (options.onlyWith !== undefined && !line.includes(options.onlyWith))) continue;
    const read = findInWords(line, start, options, spans);
    // The words of one command are read once, not again for each name of a program among them.
    COMMAND.lastIndex = start + read;
  }
}

/** Answers how far it has read: to the end, or up to a word that is a program itself. */
function findInWords(line: string, offset: number, options: Options, spans: Span[]): number {
  const { joined, next } = options;
  let before = '';
  let beforeEnd = 0;
  for (const { 0: word, index } of line.matchAll(WORD)) {
    COMMAND.lastIndex = 0;
    if (COMMAND.exec(word)?.[0] === word) return index;
    const glued = joined?.exec(word)?.[0].length ?? 0;
    const isGlued = joined?.test(before) === true && before.length === 2 && beforeEnd === index;
    if (glued > 0 && glued < word.length) addSecret(word, offset + index, glued, options, spans);
    else if (isGlued || next?.includes(before)) addSecret(word, offset + index, 0, options, spans);
    before = word;
    beforeEnd = index + word.length;
  }
  return line.length;
}

function addSecret(word: string, at: number, from: number, { hasName }: Options, spans: Span[]): void {
  const isQuoted = /^["']/.test(word.slice(from));
  const start = from + (isQuoted ? 1 : 0);
  const end = word.length - (isQuoted ? 1 : 0);
  const name = hasName ? /^[^:%,]{0,128}[:%,]/.exec(word.slice(start, end))?.[0].length : 0;
  if (name !== undefined && start + name < end) spans.push([at + start + name, at + end]);
}
