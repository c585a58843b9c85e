/** For a page: `frames` has the milliseconds between each two frames from now on. */
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
