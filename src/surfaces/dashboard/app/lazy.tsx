import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { ApiError } from './api.ts';
import { ErrorState, Skeleton } from './components/states.tsx';

/** A page whose code is fetched when it is first shown. */
export function lazy(load: () => Promise<{ readonly default: ComponentType }>): ComponentType {
  const page = signal<ComponentType | null>(null);
  const failed = signal(false);
  let isAsked = false;
  const fetchCode = () => {
    isAsked = true;
    load().then(
      (module) => {
        page.value = module.default;
      },
      () => {
        failed.value = true;
      },
    );
  };
  return function LazyPage() {
    if (!isAsked) fetchCode();
    const Page = page.value;
    if (Page) return <Page />;
    if (!failed.value) return <Skeleton lines={6} />;
    const error = new ApiError(
      0,
      'unreachable',
      'This page could not be loaded',
      'The gateway may have been updated.',
    );
    return <ErrorState error={error} onRetry={() => window.location.reload()} />;
  };
}
