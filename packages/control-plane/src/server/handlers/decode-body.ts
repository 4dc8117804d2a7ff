import { JsonSyntaxError, MOST_JSON_DEPTH, parseJson, yamlNestsDeeper } from '@bowline/machinery';
import type { ApiRequest } from '../http/api-request.ts';
import type { ApiResource } from '../registry/api-resource.ts';
import { badRequest, unsupportedMediaType } from '../status/api-status.ts';
import { summary } from './summary.ts';

/** Body is a request's body as a value. */
export interface Body {
  readonly value: unknown;
  /** Paths of members that stood twice. */
  readonly duplicates: readonly string[];
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
    return parseJson(textOf(bytes));
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw noKind(error.message);
    throw error;
  }
};

function noKind(problem: string): UnreadableBody {
  return new UnreadableBody(`couldn't get version/kind; json parse error: ${problem}`);
}

/** decodeYaml reads YAML 1.2, of which JSON is a part. Aliases are bounded: a small text must not become a large value. */
export const decodeYaml = async (bytes: Uint8Array): Promise<Body> => {
  const text = textOf(bytes);
  if (/^\s*[{[]/.test(text)) return decodeJson(bytes);
  // Large, and most clients send JSON.
  const { parse: parseYaml, Parser } = await import('yaml');
  for (const token of new Parser().parse(text)) if (yamlNestsDeeper(token, MOST_JSON_DEPTH)) throw tooDeep();
  let value: unknown;
  try {
    // Unknown tags are not worth a warning of the process.
    value = parseYaml(text, { maxAliasCount: 100, uniqueKeys: true, logLevel: 'error' });
  } catch (error) {
    const [problem = ''] = (error as Error).message.split('\n', 1);
    throw new UnreadableBody(`yaml: ${problem}`);
  }
  // Aliases nest what the text does not.
  if (nestsDeeper(value, MOST_JSON_DEPTH)) throw tooDeep();
  return { value, duplicates: [] };
};

function tooDeep(): UnreadableBody {
  return new UnreadableBody(`yaml: exceeded max depth of ${MOST_JSON_DEPTH}`);
}

function nestsDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((below) => nestsDeeper(below, depth - 1));
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
  const { value, duplicates } = await decode(bytes);
  return { value: typed(value ?? {}), duplicates };
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

/** How much of a body that says nothing of itself is shown. */
const MOST_SHOWN = 200;

/** receivedBody reads the body of a request that holds an object of a kind. */
export async function receivedBody(
  request: ApiRequest,
  decoders: ReadonlyMap<string, BodyDecoder>,
  { kind, schema }: Pick<ApiResource, 'kind' | 'schema'>,
): ReturnType<typeof decodeBody> {
  const bytes = await request.body(MOST_BODY_BYTES);
  try {
    const body = await decodeBody(bytes, request.headers['content-type'], decoders);
    // Only built-in kinds are known by where they are sent.
    if (!schema && !body.value.kind) {
      const shown = Buffer.from(bytes.subarray(0, MOST_SHOWN)).toString();
      throw new UnreadableBody(`Object 'Kind' is missing in '${shown}'`);
    }
    return body;
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): ${error.message} (${summary(bytes)})`,
    );
  }
}

/** What is no UTF-8 is read as if it were something else, as the API server does. */
const utf8 = new TextDecoder('utf-8');

function textOf(bytes: Uint8Array): string {
  return utf8.decode(bytes);
}
