import { calledOf, stepsOf } from './run-row.ts';

const DEFAULTS = { shown: 6 };

/** The calls in order, on one line. */
export function PathSteps({ path, nameOf }: { path: readonly string[]; nameOf: (node: string) => string }) {
  const steps = stepsOf(calledOf(path));
  if (steps.length === 0) return null;
  return (
    <span class="path-steps">
      {steps.slice(0, DEFAULTS.shown).map(({ node, count }, i) => (
        <span key={i} class="path-step">
          <NodeName name={nameOf(node)} />
          {count > 1 && <span class="path-count">×{count}</span>}
        </span>
      ))}
      {steps.length > DEFAULTS.shown && (
        <span class="path-step faint">and {steps.length - DEFAULTS.shown} more</span>
      )}
    </span>
  );
}

/** `server:tool` with a muted server. */
export function NodeName({ name }: { name: string }) {
  const at = name.indexOf(':');
  if (at < 0) return <span class="node-name">{name}</span>;
  return (
    <span class="node-name">
      <span class="node-server">{name.slice(0, at + 1)}</span>
      {name.slice(at + 1)}
    </span>
  );
}
