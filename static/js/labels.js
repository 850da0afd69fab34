// Where the names of dots stand: beside their dot where no dot and no other name is. A name without room is left out;
// its dot says it when pointed at.
const LETTER = 6.4;
const HIGH = 14;
const AWAY = 5;
const SIDES = [
  ["top right", 1, -1],
  ["bottom right", 1, 1],
  ["top left", -1, -1],
  ["bottom left", -1, 1],
];

/** Dots as {x, y, name} in pixels, those that matter most first; gives each one's side, or null where none has room. */
export function place(dots, { left, right, bottom }) {
  const taken = dots.map(({ x, y }) => [x - AWAY, y - AWAY, x + AWAY, y + AWAY]);
  return dots.map((dot) => {
    for (const [side, across, down] of SIDES) {
      const box = beside(dot, across, down);
      if (box[0] < left || box[2] > right || box[3] > bottom || taken.some((other) => overlap(box, other))) continue;
      taken.push(box);
      return side;
    }
    return null;
  });
}

function beside({ x, y, name }, across, down) {
  const far = AWAY + name.length * LETTER;
  const [from, to] = across > 0 ? [x + AWAY, x + far] : [x - far, x - AWAY];
  return down < 0 ? [from, y - AWAY - HIGH, to, y - AWAY] : [from, y + AWAY, to, y + AWAY + HIGH];
}

function overlap(one, other) {
  return one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
}
