import { isObject, type JsonObject, MAX_CONTENT_BYTES } from '@bowline/machinery';
import { command } from '@bowline/runtime';
import type { Command } from '@bowline/runtime/manager';
import { s } from '@bowline/runtime/resource';
import { secretPathProblem } from '../api/secret-path.ts';
import { type ApiClient, ApiRefusal, type ApiRequest, apiOptions, connectApi, PARTIAL } from './api-client.ts';
import { invalid, readContent, type SecretContent } from './secret-content.ts';

/** A JSON document is larger than the values in it. */
const MAX_JSON_BYTES = 2 * MAX_CONTENT_BYTES;

const path = { summary: 'the path of the secret', example: 'team/database' };

interface ListedSecret {
  readonly path: string;
  readonly keys: readonly string[];
  readonly version: number;
  readonly timestamp?: string;
}

const list = command({
  name: 'list',
  summary: 'Lists the secrets on the devices, without values.',
  args: { prefix: { summary: 'only secrets at or below this path', example: 'team', optional: true } },
  options: s.object(apiOptions),
  output: {
    columns: [
      { name: 'Path', value: (secret: ListedSecret) => secret.path },
      { name: 'Keys', value: ({ keys }) => keys.join(', ') },
      { name: 'Version', value: ({ version }) => version },
      { name: 'Updated', value: ({ timestamp }) => timestamp ?? '' },
    ],
    empty: 'There are no secrets.',
  },
  cluster: true,
  run: async ({ args: { prefix }, options, cluster, print, signal }) => {
    if (prefix !== undefined) checkPath(prefix);
    const api = await connectApi(cluster, options, signal);
    const { status, message, data } = await api.call({ method: 'GET', path: 'hsm/secrets', query: { prefix } });
    if (status === PARTIAL) print(`warning: the list may not be complete: ${message}`);
    // What the API of the same version returns.
    return (data.secrets ?? []) as readonly ListedSecret[];
  },
});

interface ShownKey {
  readonly key: string;
  readonly bytes: number;
  readonly value?: string | undefined;
  /** Set for a value that is not text: the value is then in base64. */
  readonly encoding?: 'base64' | undefined;
}

const get = command({
  name: 'get',
  summary: 'Shows the keys of a secret, and with --show-values or --key values.',
  args: { path },
  options: s.object({
    ...apiOptions,
    key: s.string().minLength(1).maxLength(253).describe('Show only this key, with its value.').optional(),
    showValues: s.boolean().default(false).describe('Show the values of all keys.'),
  }),
  output: {
    columns: [
      { name: 'Key', value: (row: ShownKey) => row.key },
      { name: 'Bytes', value: ({ bytes }) => bytes },
      { name: 'Value', value: ({ value }) => value },
      { name: 'Encoding', value: ({ encoding }) => encoding },
    ],
  },
  cluster: true,
  run: async ({ args, options, cluster, signal }) => {
    const api = await connectApi(cluster, options, signal);
    const values = (await readSecret(api, args.path)).content;
    const rows = [...values].map(([key, value]) => shownKey(key, value, options.showValues || options.key === key));
    if (options.key === undefined) return rows;
    const row = rows.find(({ key }) => key === options.key);
    if (!row) throw missingKey(args.path, options.key, values);
    return row;
  },
});

const create = command({
  name: 'create',
  summary: 'Creates a secret on the devices.',
  args: { path },
  options: s.object({
    ...apiOptions,
    fromLiteral: s
      .array(s.string().maxLength(MAX_CONTENT_BYTES))
      .default([])
      .describe('A value as key=value. Other users of the machine can see it; prefer --from-file.'),
    interactive: s.boolean().default(false).describe('Ask for keys and values; values are not displayed.'),
    replace: s.boolean().default(false).describe('Replace the secret if it exists.'),
    dryRun: s.boolean().default(false).describe('Only show what would be written, without values.'),
    description: s.string().maxLength(1024).describe('What the secret is for.').optional(),
  }),
  flags: { fromLiteral: { repeatable: true } },
  inputs: {
    from: { summary: 'the value of a key', maxBytes: MAX_CONTENT_BYTES, keyed: true },
    fromJson: { summary: 'a JSON object with the values by key', maxBytes: MAX_JSON_BYTES, optional: true },
  },
  cluster: true,
  run: async ({ args, options, inputs, cluster, terminal, print, signal }) => {
    checkPath(args.path);
    const { fromLiteral: literals, interactive: isInteractive, description } = options;
    const sources = { literals, files: inputs.from, json: inputs.fromJson, isInteractive };
    const content = await readContent(sources, terminal);
    if (options.dryRun) {
      const sizes = [...content].map(([key, value]) => `${key} (${value.length} bytes)`).join(', ');
      return print(`would write ${args.path} with ${sizes}`);
    }
    const api = await connectApi(cluster, options, signal);
    const body = { ...bodyOf(content), ...(description === undefined ? {} : { metadata: { description } }) };
    print(await write(api, args.path, body, options.replace));
  },
});

const remove = command({
  name: 'delete',
  summary: 'Deletes a secret from the devices, or one key of it.',
  args: { path },
  options: s.object({
    ...apiOptions,
    key: s.string().minLength(1).maxLength(253).describe('Delete only this key.').optional(),
    yes: s.boolean().default(false).describe('Do not ask for confirmation.'),
  }),
  cluster: true,
  run: async ({ args, options, cluster, terminal, print, signal }) => {
    checkPath(args.path);
    const what = options.key === undefined ? args.path : `the key ${options.key} of ${args.path}`;
    if (!options.yes) {
      const answer = await terminal.ask(`Delete ${what} from all devices? (yes/no)`, { alternative: 'pass --yes' });
      if (answer.trim().toLowerCase() !== 'yes') return print('nothing was deleted');
    }
    const api = await connectApi(cluster, options, signal);
    const request: ApiRequest = { method: 'DELETE', path: secretAt(args.path), query: { key: options.key } };
    print((await api.call(request)).message);
  },
});

const renameKey = command({
  name: 'rename-key',
  summary: 'Renames a key of a secret.',
  args: { path, old: { summary: 'the current key' }, new: { summary: 'the new key' } },
  options: s.object(apiOptions),
  cluster: true,
  run: async ({ args, options, cluster, print, signal }) => {
    const api = await connectApi(cluster, options, signal);
    const { content, version, metadata } = await readSecret(api, args.path);
    const value = content.get(args.old);
    if (!value) throw missingKey(args.path, args.old, content);
    if (content.has(args.new)) throw invalid(`${args.path} already has the key ${args.new}; delete it first`);
    const renamed = new Map([...content].map(([key, each]) => [key === args.old ? args.new : key, each]));
    // A change in the meantime must not be lost. A secret of another system may have no version.
    const replaces = version > 0 ? { replaces: version } : {};
    const body = { ...bodyOf(renamed), metadata, ...replaces };
    await api.call({ method: 'PUT', path: secretAt(args.path), body });
    print(`${args.old} of ${args.path} is now ${args.new}`);
  },
});

/** secretCommands work on the secrets of the devices. */
export const secretCommands: readonly Command[] = [list, get, create, remove, renameKey];

/** As one segment: the last part of a path may be `metadata`. */
function secretAt(secretPath: string): string {
  checkPath(secretPath);
  return `hsm/secrets/${encodeURIComponent(secretPath)}`;
}

function checkPath(secretPath: string): void {
  const problem = secretPathProblem(secretPath);
  if (problem !== undefined) throw invalid(`the path of a secret ${problem}`);
}

async function readSecret(
  api: ApiClient,
  secretPath: string,
): Promise<{ readonly content: SecretContent; readonly version: number; readonly metadata: JsonObject }> {
  const { data } = await api.call({ method: 'GET', path: secretAt(secretPath) });
  const { data: values, version, metadata } = data;
  const entries = Object.entries(isObject(values) ? values : {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    content: new Map(entries.map(([key, value]) => [key, Buffer.from(String(value), 'base64')])),
    version: Number(version ?? 0),
    metadata: isObject(metadata) ? metadata : {},
  };
}

function bodyOf(content: SecretContent): { readonly data: Readonly<Record<string, string>> } {
  return { data: Object.fromEntries([...content].map(([key, value]) => [key, value.toString('base64')])) };
}

async function write(api: ApiClient, secretPath: string, body: JsonObject, replace: boolean): Promise<string> {
  const request = { path: secretAt(secretPath), body } as const;
  if (replace) {
    try {
      return (await api.call({ ...request, method: 'PUT' })).message;
    } catch (error) {
      if (!(error instanceof ApiRefusal) || error.apiCode !== 'secret_not_found') throw error;
    }
  }
  try {
    return (await api.call({ ...request, method: 'POST' })).message;
  } catch (error) {
    if (error instanceof ApiRefusal && error.status === 409 && error.apiCode === 'validation_failed')
      throw invalid(`the secret ${secretPath} exists already; pass --replace to replace it`);
    throw error;
  }
}

function shownKey(key: string, value: Buffer, isShown: boolean): ShownKey {
  if (!isShown) return { key, bytes: value.length };
  const text = value.toString('utf8');
  const isText = Buffer.from(text, 'utf8').equals(value) && !text.includes('\0');
  return {
    key,
    bytes: value.length,
    ...(isText ? { value: text } : { value: value.toString('base64'), encoding: 'base64' }),
  };
}

function missingKey(secretPath: string, key: string, content: SecretContent): Error {
  return invalid(`the secret ${secretPath} has no key ${key}; it has ${[...content.keys()].join(', ')}`);
}
