import pc from 'picocolors';

/** Colors colours text for a terminal, or leaves it unchanged. */
export type Colors = ReturnType<typeof pc.createColors>;

/** plain applies no colours. */
export const plain: Colors = pc.createColors(false);

/**
 * colorsFor returns the colours for a stream. Only terminals get colours, unless NO_COLOR or FORCE_COLOR is set. The
 * library alone would also colour the output to a pipe or a file if `CI` is set, and a program that reads it would have
 * to remove them again.
 */
export function colorsFor(
  stream: { readonly isTTY?: boolean | undefined },
  env: Readonly<Record<string, string | undefined>>,
): Colors {
  if (env.NO_COLOR) return plain;
  if (env.FORCE_COLOR) return pc.createColors(env.FORCE_COLOR !== '0');
  return pc.createColors(stream.isTTY === true && env.TERM !== 'dumb');
}
