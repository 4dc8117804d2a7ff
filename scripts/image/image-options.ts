import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { repositoryRoot } from '../repository.ts';
import { ImageError } from './image-error.ts';

/** TARGETS are the images that can be built: the manager with all agents, and the same with support for PKCS#11 devices. */
export const TARGETS = ['manager', 'pkcs11'] as const;
export type Target = (typeof TARGETS)[number];

/** PLATFORMS are the platforms that Node and Debian provide packages for. */
export const PLATFORMS = ['linux/amd64', 'linux/arm64'] as const;
export type Platform = (typeof PLATFORMS)[number];

/** ImageOptions configures an image. */
export interface ImageOptions {
  readonly target: Target;
  readonly platform: Platform;
  /** The name and tag under which the archive is loaded. */
  readonly name: string;
}

/** ImageCommand is a parsed command line of `npm run image`. */
export type ImageCommand =
  | ({ readonly kind: 'archive'; readonly output: string } & ImageOptions)
  /** Writes one folder per layer, for the Dockerfile. */
  | ({ readonly kind: 'folders'; readonly folder: string } & ImageOptions)
  | { readonly kind: 'update-packages' };

const USAGE =
  'usage: npm run image -- --output FILE [--target manager|pkcs11] [--platform linux/amd64|linux/arm64] [--name NAME:TAG]';

/** A name as registries accept it: an optional host with a port, folders, and a tag. */
const NAME = /^(?:[\w.-]+(?::\d+)?\/)?[a-z0-9]+(?:[._/-]+[a-z0-9]+)*:[\w][\w.-]{0,127}$/;

/** parseImageCommand parses the arguments, and throws an ImageError that names the argument and the fix. */
export function parseImageCommand(args: readonly string[]): ImageCommand {
  const values = parse(args);
  if (values['update-packages'] === true) return { kind: 'update-packages' };
  const options: ImageOptions = {
    target: oneOf('--target', values.target ?? 'manager', TARGETS),
    platform: oneOf('--platform', values.platform ?? machinePlatform(), PLATFORMS),
    name: nameOf(values.name ?? `localhost/bowline:${version()}`),
  };
  if (options.target === 'pkcs11' && options.platform !== machinePlatform()) {
    throw new ImageError(
      `--target pkcs11 contains a library that is compiled for ${machinePlatform()} here: ` +
        `run this on a machine of ${options.platform}, or leave out --platform`,
    );
  }
  if (values.folders !== undefined) return { kind: 'folders', folder: resolve(values.folders), ...options };
  if (values.output === undefined || values.output === '') {
    throw new ImageError(`--output is missing: name the archive to write, for example --output bowline.tar\n${USAGE}`);
  }
  return { kind: 'archive', output: outputFile(values.output), ...options };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        output: { type: 'string' },
        target: { type: 'string' },
        platform: { type: 'string' },
        name: { type: 'string' },
        folders: { type: 'string' },
        'update-packages': { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    const message = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
    throw new ImageError(`${message}\n${USAGE}`);
  }
}

function oneOf<const T extends string>(flag: string, value: string, known: readonly T[]): T {
  const found = known.find((each) => each === value);
  if (found === undefined) {
    throw new ImageError(`${flag} ${JSON.stringify(value)} is unknown; use one of ${known.join(', ')}`);
  }
  return found;
}

function nameOf(name: string): string {
  if (NAME.test(name)) return name;
  throw new ImageError(
    `--name ${JSON.stringify(name)} is not an image name with a tag; use one such as registry.example.com/bowline:${version()}`,
  );
}

function outputFile(given: string): string {
  const file = resolve(given);
  if (!existsSync(dirname(file))) {
    throw new ImageError(`--output ${given}: the folder ${dirname(file)} does not exist; create it first`);
  }
  if (existsSync(file) && !statSync(file).isFile()) {
    throw new ImageError(
      `--output ${given} is not a file; name the archive to write, for example ${given}/bowline.tar`,
    );
  }
  return file;
}

/** machinePlatform returns the platform of this machine, or the most common one where images cannot run directly. */
export function machinePlatform(): Platform {
  return process.arch === 'arm64' ? 'linux/arm64' : 'linux/amd64';
}

/** version returns the version of all packages. */
export function version(): string {
  return (JSON.parse(readFileSync(join(repositoryRoot, 'package.json'), 'utf8')) as { readonly version: string })
    .version;
}
