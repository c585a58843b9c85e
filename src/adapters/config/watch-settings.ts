import { type FSWatcher, watch } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Settings } from '../../engine/ports.ts';
import type { ConfigSource } from './find-config.ts';
import { loadSettings } from './load-settings.ts';

const DEFAULTS = {
  /** Editors write in several steps; quiet for this long means that they are done. */
  debounceMs: 100,
};

export interface SettingsWatcher {
  close(): void;
}

/**
 * Calls `onChange` with new settings whenever the file comes to mean something else than `current`,
 * which are the settings in use; `onError` when it cannot be used, and then the old settings stay.
 * The file may be replaced, removed and put back.
 */
export async function watchSettings(
  source: ConfigSource & { readonly file: string },
  current: Settings,
  onChange: (settings: Settings) => void,
  onError: (error: PmlError) => void,
): Promise<SettingsWatcher> {
  let meaning = JSON.stringify(current);
  let lastError: string | null = null;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  // One after the other, so that an older reading never overtakes a newer one.
  let reading = Promise.resolve();

  const reload = async () => {
    try {
      const settings = await loadSettings(source);
      if (closed) return;
      lastError = null;
      const newMeaning = JSON.stringify(settings);
      if (newMeaning === meaning) return;
      meaning = newMeaning;
      onChange(settings);
    } catch (thrown) {
      const error = PmlError.from(thrown);
      if (closed || error.message === lastError) return;
      lastError = error.message;
      onError(error);
    }
  };
  const schedule = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      reading = reading.then(reload);
    }, DEFAULTS.debounceMs);
    timer.unref();
  };
  const watchers = await watchFolders(source.file, schedule, onError);
  // The file may have changed after `current` was read and before the watch began.
  schedule();

  return {
    close() {
      closed = true;
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}

/**
 * Folders, not the file: who saves by replacing the file leaves a watch on it behind. Where the file
 * is a link, the folder it leads to is watched too.
 */
async function watchFolders(
  file: string,
  onEvent: () => void,
  onError: (error: PmlError) => void,
): Promise<FSWatcher[]> {
  const target = await realpath(file).catch(() => file);
  const files = [...new Set([file, target])];
  const failed = (cause: unknown) =>
    onError(
      new PmlError('internal', `Changes to ${file} cannot be watched`, {
        hint: 'Restart PML after changing the file.',
        cause,
      }),
    );
  return files.flatMap((path) => {
    try {
      const watcher = watch(dirname(path), { persistent: false }, (_event, name) => {
        // Mounted volumes swap a link called ..data instead of the file.
        if (name === null || name === basename(path) || name.startsWith('..')) onEvent();
      });
      return [watcher.on('error', failed)];
    } catch (cause) {
      failed(cause);
      return [];
    }
  });
}
