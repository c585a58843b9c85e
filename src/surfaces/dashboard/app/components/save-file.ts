import { askRaw } from '../api.ts';
import { toast } from './toast.tsx';

/** A file that the gateway writes. */
export async function saveFrom(address: string, name: string): Promise<void> {
  const fetched = askRaw(address).then((reply) => {
    if (!reply.ok) throw new Error(`The gateway responded with HTTP ${reply.status}`);
    return reply.blob();
  });
  await saveFile(fetched, name);
}

/** A file made in the browser. */
export async function saveFile(made: Promise<Blob>, name: string): Promise<void> {
  try {
    const address = URL.createObjectURL(await made);
    const link = document.createElement('a');
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  } catch {
    toast(`${name} could not be created`, 'bad');
  }
}
