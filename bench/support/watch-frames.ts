/** For a page: from now on, `frames` collects the milliseconds between consecutive frames. */
export const WATCH_FRAMES = `(() => {
  globalThis.frames = [];
  let last = performance.now();
  const tick = (now) => {
    frames.push(now - last);
    last = now;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
})()`;
