import { JsonSyntaxError, type ParsedJson, parseJson, quoteText } from '@bowline/machinery';
import { unsupportedMediaType } from '../status/api-status.ts';

/** Body is a request's body as a value. */
export interface Body {
  readonly value: unknown;
  /** What is said of members that stood twice, each. */
  readonly duplicates: readonly string[];
  /** What is said of them when they are refused. Defaults to the same. */
  readonly refusals?: readonly string[] | undefined;
}

/** UnreadableBody is a body of which not even the kind can be read. */
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody';
}

/** BodyDecoder reads one format. */
export type BodyDecoder = (bytes: Uint8Array) => Body | Promise<Body>;

/** MOST_BODY_BYTES is the API server's limit of a request. */
export const MOST_BODY_BYTES = 3 * 1024 * 1024;

/** mediaTypeOf is the type without its parameters. */
export function mediaTypeOf(contentType: string | undefined): string {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() || 'application/json';
}

/** What is said to be read, of custom resources too. */
const FORMATS = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

const decodeJson = (bytes: Uint8Array): Body => {
  try {
    return jsonBody(parseJson(textOf(bytes)));
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw noKind(error.message);
    throw error;
  }
};

/** jsonBody says of members that stood twice where they are. */
export function jsonBody({ value, duplicates }: ParsedJson): Body {
  return { value, duplicates: duplicates.map((path) => `duplicate field ${quoteText(path)}`) };
}

function noKind(problem: string): UnreadableBody {
  return new UnreadableBody(`couldn't get version/kind; json parse error: ${problem}`);
}

/** decodeYaml reads YAML, of which JSON is a part, and the part that most clients send. */
export const decodeYaml = async (bytes: Uint8Array): Promise<Body> => {
  const text = textOf(bytes);
  const json = /^\s*[{[]/.test(text) ? parsedJson(text) : undefined;
  // What is said of a key that stands twice names its line.
  if (json?.duplicates.length === 0) return json;
  // Few send it, and its library is large.
  const { readYaml, UnreadableYaml } = await import('./read-yaml.ts');
  try {
    const { value, duplicates } = readYaml(text);
    const all = duplicates.map((line) => `\n  ${line}`).join('');
    return { value, duplicates, refusals: duplicates.length === 0 ? [] : [`yaml: unmarshal errors:${all}`] };
  } catch (error) {
    if (error instanceof UnreadableYaml) throw new UnreadableBody(error.message);
    throw error;
  }
};

/** parsedJson is undefined for what is no JSON, but may be YAML. */
function parsedJson(text: string): Body | undefined {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

/** bodyDecoders are the formats of whole objects, by media type. */
export function bodyDecoders(more: Readonly<Record<string, BodyDecoder>> = {}): ReadonlyMap<string, BodyDecoder> {
  return new Map(Object.entries({ 'application/json': decodeJson, 'application/yaml': decodeYaml, ...more }));
}

/** decodeBody reads a body in the format that its request names: an object that may say what it is. */
export async function decodeBody(
  bytes: Uint8Array,
  contentType: string | undefined,
  decoders: ReadonlyMap<string, BodyDecoder>,
): Promise<Body & { readonly value: Readonly<Record<string, unknown>> }> {
  const type = mediaTypeOf(contentType);
  const decode = decoders.get(type);
  if (!decode) throw unsupportedMediaType(FORMATS.filter((each) => each !== type));
  const body = await decode(bytes);
  return { ...body, value: typed(body.value ?? {}) };
}

const TYPE = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

function typed(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw noKind(`json: cannot unmarshal ${jsonType(value)} into Go value of type ${TYPE}`);
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    if ((name === 'apiVersion' || name === 'kind') && typeof member !== 'string' && member !== null)
      throw noKind(`json: cannot unmarshal ${jsonType(member)} into Go struct field .${name} of type string`);
  }
  const { apiVersion } = value as { readonly apiVersion?: string | null };
  if (apiVersion && apiVersion.split('/').length > 2)
    throw new UnreadableBody(`unexpected GroupVersion string: ${apiVersion}`);
  return value as Record<string, unknown>;
}

/** jsonType is what the API server calls a value of JSON. */
export function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** What is no UTF-8 is read as if it were something else, as the API server does. */
const utf8 = new TextDecoder('utf-8');

function textOf(bytes: Uint8Array): string {
  return utf8.decode(bytes);
}

/** How many bytes of a body `summary` includes. */
const MAX_SUMMARY_BYTES = 30;

/** summary returns the beginning of a body for an error message: as text if it looks like JSON, else in hexadecimal. */
export function summary(bytes: Uint8Array): string {
  if (bytes.length === 0) return '<empty>';
  const beginning = Buffer.from(bytes.subarray(0, MAX_SUMMARY_BYTES)).toString(bytes[0] === 0x7b ? 'utf8' : 'hex');
  return bytes.length > MAX_SUMMARY_BYTES ? `${beginning} ...` : beginning;
}
