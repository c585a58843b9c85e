import { askRaw } from '../../api.ts';
import { toast } from '../../components/toast.tsx';

/** What the gateway writes as a file: the whole graph, as `pml graph export` does. */
export async function downloadFrom(address: string, name: string): Promise<void> {
  const fetched = askRaw(address).then((reply) => {
    if (!reply.ok) throw new Error(`The gateway answered ${reply.status}`);
    return reply.blob();
  });
  await download(fetched, name);
}

/** What was made here. */
export async function download(made: Promise<Blob>, name: string): Promise<void> {
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
