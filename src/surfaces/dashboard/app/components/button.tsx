import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';

type ButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'icon'> & {
  kind?: 'primary' | 'plain' | 'danger' | 'quiet';
  icon?: IconName;
  children?: ComponentChildren;
};

/** One without words needs an `aria-label`. */
export function Button({ kind = 'plain', icon, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      class={`button button-${kind}${children ? '' : ' button-bare'}`}
      {...(rest['aria-label'] && { title: String(rest['aria-label']) })}
      {...rest}
    >
      {icon && <Icon name={icon} size={16} />}
      {children}
    </button>
  );
}
