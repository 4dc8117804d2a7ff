import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SimulatedGateway, type SimulatedGatewayOptions } from './simulated-gateway.ts';

/** API_KEY is the key that the gateways of tests accept. Tests look for it where it must not appear. */
export const API_KEY = 'agent:canary-7f3a9d';

/** VIEW is a resource of the project `overview`. */
export const VIEW = 'projects/overview/com.inductiveautomation.perspective/views/main';

const RESOURCE = { scope: 'G', version: 1, files: ['view.json'], attributes: { author: 'git' } };

/** GatewayFolder is a temporary data folder, and a gateway on it. */
export interface GatewayFolder extends AsyncDisposable {
  readonly dataFolder: string;
  readonly apiKeyFile: string;
  readonly journalFile: string;
  readonly controlSocket: string;
  readonly gateway: SimulatedGateway;
  /** place writes a file below the data folder. */
  place(path: string, content: string | object): Promise<void>;
  read(path: string): Promise<string>;
  /** journal returns the entries of the journal. */
  journal(): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** gatewayFolder creates a data folder with the projects `overview` and `line-1`, and a gateway that is not started. */
export async function gatewayFolder(options: Partial<SimulatedGatewayOptions> = {}): Promise<GatewayFolder> {
  const root = await mkdtemp(join(tmpdir(), 'gateway-'));
  const dataFolder = join(root, 'data');
  const apiKeyFile = join(root, 'api-key');
  const journalFile = join(root, 'journal');
  const controlSocket = join(root, 'control');
  const place = async (path: string, content: string | object): Promise<void> => {
    const file = join(dataFolder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  };
  await mkdir(dataFolder);
  await writeFile(apiKeyFile, `${API_KEY}\n`);
  await place('projects/overview/project.json', { title: 'Overview' });
  await place('projects/line-1/project.json', { title: 'Line 1' });
  await place(`${VIEW}/view.json`, '{"root": 1}');
  await place(`${VIEW}/resource.json`, RESOURCE);
  await place('config/resources/core/ignition/tag-provider/resource.json', { ...RESOURCE, files: [] });
  const gateway = new SimulatedGateway({ dataFolder, apiKeyFile, journalFile, controlSocket, ...options });
  return {
    dataFolder,
    apiKeyFile,
    journalFile,
    controlSocket,
    gateway,
    place,
    read: async (path) => await readFile(join(dataFolder, path), 'utf8'),
    journal: async () => {
      const text = await readFile(journalFile, 'utf8');
      return text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    [Symbol.asyncDispose]: async () => {
      await gateway.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
}
