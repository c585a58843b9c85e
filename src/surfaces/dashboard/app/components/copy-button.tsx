import { useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

const DEFAULTS = { thanksMs: 1_500 };

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [isDone, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    setTimeout(() => setDone(false), DEFAULTS.thanksMs);
  };
  return (
    <button type="button" class="copy" aria-label={isDone ? 'Copied' : label} title={label} onClick={copy}>
      <Icon name={isDone ? 'check' : 'copy'} size={15} />
    </button>
  );
}
