// <time data-relative datetime>: absolute in the page (it may come from a cache), relative for the reader.
const STEPS = [
  [60, "second", 1],
  [3600, "minute", 60],
  [86400, "hour", 3600],
  [86400 * 14, "day", 86400],
];

export function bindTimes(root) {
  const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  for (const time of root.querySelectorAll("time[data-relative]")) {
    const seconds = (new Date(time.dateTime) - Date.now()) / 1000;
    const step = STEPS.find(([limit]) => Math.abs(seconds) < limit);
    if (step) time.textContent = words.format(Math.round(seconds / step[2]), step[1]);
  }
}
