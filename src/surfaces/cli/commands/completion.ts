import { Argument, type Command } from 'commander';
import type { CommandModule } from '../command.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export const completionCommand: CommandModule = (program, { terminal }) => {
  program
    .command('completion')
    .description('print a completion script for your shell')
    .addArgument(new Argument('<shell>', 'shell to print the script for').choices([...SHELLS]))
    .addHelpText('after', '\nExample:\n  $ source <(pml completion bash)\n  $ pml completion fish | source')
    .action((shell: Shell) => terminal.out(script(shell, completions(program))));
};

interface Completion {
  /** Words typed so far, without `pml`: `trace ls`. */
  readonly path: string;
  readonly words: readonly string[];
}

/** Possible continuations at each point of the command line, read from the program itself. */
function completions(program: Command): Completion[] {
  const walk = (command: Command, path: string[]): Completion[] => {
    const visible = command.commands.filter((child) => !child.name().startsWith('_'));
    const options = [...command.options, { long: '--help' }].map((option) => option.long ?? '');
    const here = {
      path: path.join(' '),
      words: [...visible.map((child) => child.name()), ...new Set(options)].filter(Boolean),
    };
    return [here, ...visible.flatMap((child) => walk(child, [...path, child.name()]))];
  };
  return walk(program, []);
}

function script(shell: Shell, all: readonly Completion[]): string {
  if (shell === 'fish') return fishScript(all);
  const bash = bashScript(all);
  return shell === 'zsh' ? `autoload -U +X bashcompinit && bashcompinit\n${bash}` : bash;
}

function bashScript(all: readonly Completion[]): string {
  const cases = all.map(({ path, words }) => `    '${path}') words='${words.join(' ')}' ;;`);
  return `_pml() {
  local path='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _pml pml
`;
}

function fishScript(all: readonly Completion[]): string {
  const lines = all.flatMap(({ path, words }) =>
    words.map((word) => {
      const condition =
        path === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${path.split(' ').at(-1)}`;
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`;
      return `complete -c pml -n '${condition}' ${what}`;
    }),
  );
  return `${lines.join('\n')}\n`;
}
