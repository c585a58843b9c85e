import { toast } from '../../components/toast.tsx';

/** What the gateway writes as a file: the whole graph, as `pml graph export` does. */
export function downloadFrom(address: string, name: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
}

/** What was made here. */
export async function download(made: Promise<Blob>, name: string): Promise<void> {
  try {
    const address = URL.createObjectURL(await made);
    downloadFrom(address, name);
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  } catch {
    toast(`${name} could not be made`, 'bad');
  }
}
