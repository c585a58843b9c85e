import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Right } from '../../shared/api-types.ts';
import { refusal } from '../who.ts';
import { Icon, type IconName } from './badge.tsx';

const DEFAULTS = { thanksMs: 1_500 };

type ButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'icon'> & {
  kind?: 'primary' | 'plain' | 'danger' | 'quiet';
  icon?: IconName;
  /** Without this right the button is disabled and says why. */
  needs?: Right;
  children?: ComponentChildren;
};

/** A button without text needs an `aria-label`. */
export function Button({ kind = 'plain', icon, needs, children, ...rest }: ButtonProps) {
  const refused = needs && refusal(needs);
  return (
    <button
      type="button"
      class={`button button-${kind}${children ? '' : ' button-bare'}`}
      {...(rest['aria-label'] && { title: String(rest['aria-label']) })}
      {...rest}
      {...(refused && { disabled: true, title: refused })}
    >
      {icon && <Icon name={icon} size={16} />}
      {children}
    </button>
  );
}

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
