import pc from 'picocolors';

/** Colors paint text for a terminal, or leave it as it is. */
export type Colors = ReturnType<typeof pc.createColors>;

/** plain paints nothing. */
export const plain: Colors = pc.createColors(false);

/**
 * colorsFor are those of a stream: colours are for eyes, so only terminals get them, unless NO_COLOR or FORCE_COLOR say
 * otherwise. The library alone would also paint what a pipe or a file gets wherever `CI` is set, and whoever reads that
 * with a program would have to take it off again.
 */
export function colorsFor(
  stream: { readonly isTTY?: boolean | undefined },
  env: Readonly<Record<string, string | undefined>>,
): Colors {
  if (env.NO_COLOR) return plain;
  if (env.FORCE_COLOR) return pc.createColors(env.FORCE_COLOR !== '0');
  return pc.createColors(stream.isTTY === true && env.TERM !== 'dumb');
}
