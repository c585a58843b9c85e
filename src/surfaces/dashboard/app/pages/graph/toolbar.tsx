import type { Trace } from '../../../shared/api-types.ts';
import { askRaw } from '../../api.ts';
import { Button } from '../../components/button.tsx';
import { Menu } from '../../components/menu.tsx';
import { toast } from '../../components/toast.tsx';
import { setQuery } from '../../router.ts';
import type { CanvasHandle } from './graph-canvas.tsx';
import { BACKGROUNDS, type GraphState, type Mode, setMode } from './graph-state.ts';

const MODES: readonly (readonly [Mode, string, string])[] = [
  ['definition', 'Definition', 'Tools, capabilities and how they depend on each other'],
  ['invocation', 'Invocation', 'The calls of one run'],
];

export function Toolbar({
  state,
  trace,
  canvas,
  sought,
  onSeek,
  onPickFirst,
  onLayOut,
}: {
  state: GraphState;
  trace: Trace | undefined;
  canvas: () => CanvasHandle | null;
  sought: string;
  onSeek: (text: string) => void;
  onPickFirst: () => void;
  onLayOut: () => void;
}) {
  const isRun = state.mode === 'invocation';
  const asPicture = { title: 'Picture (PNG)', onSelect: () => save(canvas()) };
  return (
    <div class="graph-tools">
      <input
        type="search"
        data-search
        aria-label="Find a node"
        placeholder="Find a node…"
        value={sought}
        onInput={(event) => onSeek(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onPickFirst();
          if (event.key !== 'ArrowDown') return;
          event.preventDefault();
          document.querySelector<HTMLElement>('.graph-list a')?.focus();
        }}
      />
      <fieldset class="graph-modes">
        <legend class="hidden">Mode</legend>
        {MODES.map(([mode, title, note]) => (
          <button
            key={mode}
            type="button"
            title={note}
            aria-pressed={state.mode === mode}
            onClick={() => state.mode !== mode && setMode(mode)}
          >
            {title}
          </button>
        ))}
      </fieldset>
      {!isRun && (
        <select
          aria-label="Background"
          value={state.background}
          onChange={({ currentTarget: { value } }) =>
            setQuery({ clusters: value === 'none' ? undefined : value })
          }
        >
          {Object.entries(BACKGROUNDS).map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      )}
      {!isRun && <Button kind="quiet" icon="refresh" aria-label="Lay out again" onClick={onLayOut} />}
      <Menu
        label="Export"
        icon="download"
        items={
          isRun
            ? [asPicture, { title: 'This run (JSON)', onSelect: () => trace && saveRun(trace) }]
            : [
                asPicture,
                ...(['json', 'graphml', 'dot'] as const).map((format) => ({
                  title: `Whole graph (${format === 'json' ? 'JSON' : format === 'dot' ? 'DOT' : 'GraphML'})`,
                  onSelect: () => void downloadFrom(`/api/graph?format=${format}`, `graph.${format}`),
                })),
              ]
        }
      />
    </div>
  );
}

function save(canvas: CanvasHandle | null): void {
  if (canvas) void download(canvas.picture(), 'graph.png');
}

function saveRun(trace: Trace): void {
  const blob = new Blob([JSON.stringify(trace, null, 2)], { type: 'application/json' });
  void download(Promise.resolve(blob), `run-${trace.id}.json`);
}

/** What the gateway writes as a file: the whole graph, as `pml graph export` does. */
async function downloadFrom(address: string, name: string): Promise<void> {
  const fetched = askRaw(address).then((reply) => {
    if (!reply.ok) throw new Error(`The gateway answered ${reply.status}`);
    return reply.blob();
  });
  await download(fetched, name);
}

/** What was made here. */
async function download(made: Promise<Blob>, name: string): Promise<void> {
  try {
    const address = URL.createObjectURL(await made);
    const link = document.createElement('a');
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  } catch {
    toast(`${name} could not be made`, 'bad');
  }
}
