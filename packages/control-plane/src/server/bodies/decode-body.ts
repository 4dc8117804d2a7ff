import { JsonSyntaxError, type ParsedJson, parseJson, quoteText } from '@bowline/machinery';
import { unsupportedMediaType } from '../status/api-status.ts';

/** Body is the parsed body of a request. */
export interface Body {
  readonly value: unknown;
  /** One message for each duplicate member. */
  readonly duplicates: readonly string[];
  /** The messages for an error response. Defaults to `duplicates`. */
  readonly refusals?: readonly string[] | undefined;
}

/** UnreadableBody reports a body whose kind cannot be determined. */
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody';
}

/** BodyDecoder decodes one format. */
export type BodyDecoder = (bytes: Uint8Array) => Body | Promise<Body>;

/** MAX_BODY_BYTES is the API server's size limit of a request. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** mediaTypeOf returns the media type without its parameters. */
export function mediaTypeOf(contentType: string | undefined): string {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() || 'application/json';
}

/** The formats that error messages list, also for custom resources. */
const FORMATS = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'];

const decodeJson = (bytes: Uint8Array): Body => {
  try {
    return jsonBody(parseJson(textOf(bytes)));
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw noKind(error.message);
    throw error;
  }
};

/** jsonBody returns a body with a message for every duplicate member that contains its path. */
export function jsonBody({ value, duplicates }: ParsedJson): Body {
  return { value, duplicates: duplicates.map((path) => `duplicate field ${quoteText(path)}`) };
}

function noKind(problem: string): UnreadableBody {
  return new UnreadableBody(`couldn't get version/kind; json parse error: ${problem}`);
}

/** decodeYaml decodes YAML, including JSON, which is what most clients send. */
export const decodeYaml = async (bytes: Uint8Array): Promise<Body> => {
  const text = textOf(bytes);
  const json = /^\s*[{[]/.test(text) ? parsedJson(text) : undefined;
  // JSON with duplicate keys is parsed again as YAML, because those messages contain the line.
  if (json?.duplicates.length === 0) return json;
  // Few clients send YAML, and its library is large.
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

/** parsedJson returns undefined for text that is not JSON, but may be YAML. */
function parsedJson(text: string): Body | undefined {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

/** bodyDecoders returns the decoders of whole objects, by media type. */
export function bodyDecoders(more: Readonly<Record<string, BodyDecoder>> = {}): ReadonlyMap<string, BodyDecoder> {
  return new Map(Object.entries({ 'application/json': decodeJson, 'application/yaml': decodeYaml, ...more }));
}

/** decodeBody decodes a body in the format of its content type; it must be an object, but need not specify its kind. */
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

/** jsonType returns the API server's name for the type of a JSON value. */
export function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** Invalid UTF-8 is replaced instead of rejected, as in the API server. */
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
