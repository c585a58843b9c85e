import type { Hono } from 'hono';

/** The dashboard as this surface mounts it: open to all, since it holds no data. */
export interface PageHandlers {
  /** Whether a path is a page of its, and not something of this server. */
  isPage(path: string): boolean;
  /** A file of the page; null when there is none at this path. */
  asset(request: Request): Promise<Response | null>;
  index(request: Request, status?: number): Promise<Response>;
}

/** Nothing inline and nothing from elsewhere; pictures of the graph are made as data and blobs. */
export const CONTENT_POLICY = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'", 'data:', 'blob:'],
  connectSrc: ["'self'"],
  workerSrc: ["'self'"],
  formAction: ["'self'"],
  baseUri: ["'none'"],
  frameAncestors: ["'none'"],
};

export function mountPage(app: Hono, page: PageHandlers): void {
  app.get('*', async (context, next) => {
    const file = await page.asset(context.req.raw);
    if (file) return file;
    return page.isPage(context.req.path) ? await page.index(context.req.raw) : await next();
  });
}
