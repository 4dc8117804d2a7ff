/** UnreadableScalar reports a scalar that does not match its tag, or that JSON cannot hold. */
export class UnreadableScalar extends Error {
  override readonly name = 'UnreadableScalar';
}

const TAGS = 'tag:yaml.org,2002:';
const TRUE = /^(?:y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON)$/;
const FALSE = /^(?:n|N|no|No|NO|false|False|FALSE|off|Off|OFF)$/;
const NULL = /^(?:|~|null|Null|NULL)$/;
const NOT_FINITE = /^(?:\.(?:nan|NaN|NAN)|([-+]?)\.(?:inf|Inf|INF))$/;
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
/** As in Go source: the prefix determines the base, and a leading zero alone means octal. */
const INTEGER = /^([-+]?)(?:0[xX]([\da-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9]\d*))$/;

/**
 * resolveScalar returns the value of a YAML scalar as the API server interprets it: by YAML 1.1, except for times and
 * numbers to base 60.
 */
export function resolveScalar(text: string, isPlain: boolean, tag: string | undefined): unknown {
  if (tag === undefined) return isPlain ? meaningOf(text) : text;
  switch (tag) {
    case `${TAGS}binary`:
      return Buffer.from(text, 'base64').toString();
    case `${TAGS}null`:
    case `${TAGS}bool`:
    case `${TAGS}int`:
    case `${TAGS}float`:
      return tagged(text, tag.slice(TAGS.length));
    default:
      return text;
  }
}

function tagged(text: string, wanted: string): unknown {
  const value = meaningOf(text);
  const found = tagOf(value);
  if (found === wanted || (found === 'int' && wanted === 'float')) return value;
  throw new UnreadableScalar(`yaml: cannot decode !!${found} \`${text}\` as a !!${wanted}`);
}

function tagOf(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'str';
  return typeof value === 'bigint' || Number.isInteger(value) ? 'int' : 'float';
}

function meaningOf(text: string): unknown {
  if (TRUE.test(text)) return true;
  if (FALSE.test(text)) return false;
  if (NULL.test(text)) return null;
  const infinite = NOT_FINITE.exec(text);
  if (infinite)
    throw new UnreadableScalar(
      `json: unsupported value: ${infinite[1] === undefined ? 'NaN' : infinite[1] === '-' ? '-Inf' : '+Inf'}`,
    );
  return /^[-+.\d]/.test(text) ? numberOf(text) : text;
}

function numberOf(text: string): unknown {
  // A number that starts with a dot may not contain underscores.
  const plain = text.startsWith('.') ? text : text.replaceAll('_', '');
  const [whole, sign, hexadecimal, binary, octal, decimal] = INTEGER.exec(plain) ?? [];
  if (whole !== undefined) {
    const size = BigInt(
      hexadecimal ? `0x${hexadecimal}` : binary ? `0b${binary}` : octal ? `0o${octal}` : (decimal ?? ''),
    );
    const value = sign === '-' ? -size : size;
    // A value that fits in 64 bits is an integer; a larger one is a float, if it is written like one.
    const isHeld = BigInt.asIntN(64, value) === value || (sign === '' && BigInt.asUintN(64, value) === value);
    if (isHeld) return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  }
  if (!FLOAT.test(plain)) return text;
  const value = Number(plain);
  return Number.isFinite(value) ? value : text;
}
