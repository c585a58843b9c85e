import type { Core } from 'cytoscape';
import { paintRegions, type Region } from './paint-background.ts';
import type { Palette } from './palette.ts';

const DEFAULTS = {
  scale: 2,
  /** Longest side in pixels: browsers refuse larger canvases. */
  longest: 8_000,
  padding: 80,
};

/** What is drawn as a PNG: all of it, with its hulls and ground, whatever part is in view. */
export async function picture(core: Core, regions: readonly Region[], palette: Palette): Promise<Blob> {
  const box = core.elements().boundingBox({});
  const [width, height] = [box.w + 2 * DEFAULTS.padding, box.h + 2 * DEFAULTS.padding];
  const scale = Math.min(DEFAULTS.scale, DEFAULTS.longest / Math.max(width, height));
  const canvas = new OffscreenCanvas(Math.ceil(width * scale), Math.ceil(height * scale));
  const context = canvas.getContext('2d') as unknown as CanvasRenderingContext2D;
  context.fillStyle = palette.ground;
  context.fillRect(0, 0, canvas.width, canvas.height);
  const [left, top] = [(DEFAULTS.padding - box.x1) * scale, (DEFAULTS.padding - box.y1) * scale];
  context.setTransform(scale, 0, 0, scale, left, top);
  const placeOf = (id: string) => {
    const node = core.getElementById(id);
    return node.nonempty() ? node.position() : undefined;
  };
  paintRegions(context, regions, placeOf, palette, scale);
  context.setTransform(1, 0, 0, 1, 0, 0);
  const drawn = await createImageBitmap(await core.png({ output: 'blob-promise', full: true, scale }));
  context.drawImage(drawn, DEFAULTS.padding * scale, DEFAULTS.padding * scale);
  return await canvas.convertToBlob({ type: 'image/png' });
}
