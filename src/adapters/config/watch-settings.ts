import { type FSWatcher, watch } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { PmlError } from '../../core/vocabulary/pml-error.ts';
import type { Settings } from '../../engine/ports.ts';
import type { ConfigSource } from './find-config.ts';
import { loadSettings } from './load-settings.ts';

const DEFAULTS = {
  /** Milliseconds without a change after which an editor is assumed to have finished writing. */
  debounceMs: 100,
};

export interface SettingsWatcher {
  close(): void;
}

/**
 * Calls `onChange` with new settings when the file's meaning differs from `current`, the settings in use;
 * calls `onError` when the file is invalid, and the old settings stay. The file may be replaced, removed and
 * restored.
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
  // One after the other, so that an older read never overtakes a newer one.
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
  // The file may have changed between reading `current` and starting the watch.
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
 * Watches folders instead of the file: a watch on a file is lost when an editor replaces it. If the file is a
 * link, its target's folder is watched too.
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
        // Mounted volumes replace a link called ..data instead of the file.
        if (name === null || name === basename(path) || name.startsWith('..')) onEvent();
      });
      return [watcher.on('error', failed)];
    } catch (cause) {
      failed(cause);
      return [];
    }
  });
}
