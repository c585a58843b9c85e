import { createTar } from 'nanotar';
import type { SkillFolder } from '../../../shared/capability-types.ts';
import { getJson } from '../../api.ts';

/** Saves the folder of an Agent Skill as one archive, which `pml capability import` takes over when unpacked. */
export async function exportSkill(slug: string): Promise<void> {
  const { folder, files } = await getJson<SkillFolder>(`/capabilities/${encodeURIComponent(slug)}/export`);
  const archive = createTar(
    Object.entries(files).map(([name, data]) => ({ name: `${folder}/${name}`, data })),
  );
  const address = URL.createObjectURL(new Blob([archive as BlobPart], { type: 'application/x-tar' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = `${folder}.tar`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
