import { parse as parseYaml } from 'yaml';
import type { ApiRequest } from '../http/api-request.ts';
import { JsonSyntaxError, MOST_DEPTH, parseJson } from '../json/parse-json.ts';
import { badRequest, unsupportedMediaType } from '../status/api-status.ts';

/** Body is a request's body as a value. */
export interface Body {
  readonly value: unknown;
  /** Paths of members that stood twice. */
  readonly duplicates: readonly string[];
}

/** BodyDecoder reads one format. */
export type BodyDecoder = (bytes: Uint8Array) => Body | Promise<Body>;

/** MOST_BODY_BYTES is the API server's limit of a request. */
export const MOST_BODY_BYTES = 3 * 1024 * 1024;

/** mediaTypeOf is the type without its parameters. */
export function mediaTypeOf(contentType: string | undefined): string {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() || 'application/json';
}

const decodeJson = (bytes: Uint8Array): Body => {
  try {
    return parseJson(textOf(bytes));
  } catch (error) {
    if (error instanceof JsonSyntaxError)
      throw badRequest(`couldn't get version/kind; json parse error: ${error.message}`);
    throw error;
  }
};

/** decodeYaml reads YAML 1.2, of which JSON is a part. Aliases are bounded: a small text must not become a large value. */
export const decodeYaml = (bytes: Uint8Array): Body => {
  const text = textOf(bytes);
  if (/^\s*[{[]/.test(text)) return decodeJson(bytes);
  let value: unknown;
  try {
    value = parseYaml(text, { maxAliasCount: 100, uniqueKeys: true });
  } catch (error) {
    throw badRequest(`error converting YAML to JSON: ${(error as Error).message.split('\n', 1)[0]}`);
  }
  if (nestsDeeper(value, MOST_DEPTH)) {
    throw badRequest(`error converting YAML to JSON: the document nests deeper than ${MOST_DEPTH} levels`);
  }
  return { value, duplicates: [] };
};

function nestsDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((below) => nestsDeeper(below, depth - 1));
}

/** bodyDecoders are the formats of whole objects, by media type. */
export function bodyDecoders(more: Readonly<Record<string, BodyDecoder>> = {}): ReadonlyMap<string, BodyDecoder> {
  return new Map(Object.entries({ 'application/json': decodeJson, 'application/yaml': decodeYaml, ...more }));
}

/** decodeBody reads a body in the format that its request names. */
export async function decodeBody(
  bytes: Uint8Array,
  contentType: string | undefined,
  decoders: ReadonlyMap<string, BodyDecoder>,
): Promise<Body> {
  const decode = decoders.get(mediaTypeOf(contentType));
  if (!decode) throw unsupportedMediaType([...decoders.keys()]);
  return decode(bytes);
}

/** receivedBody reads the body of a request. */
export async function receivedBody(request: ApiRequest, decoders: ReadonlyMap<string, BodyDecoder>): Promise<Body> {
  return decodeBody(await request.body(MOST_BODY_BYTES), request.headers['content-type'], decoders);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw badRequest('the body of the request is not UTF-8');
  }
}
