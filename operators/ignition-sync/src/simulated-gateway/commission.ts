import { access, mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CACHE } from './rewrite-resources.ts';

/** SECURITY_PROPERTIES is the resource that commissioning overwrites. */
export const SECURITY_PROPERTIES = 'config/resources/core/ignition/security-properties';

const DEFAULTS = {
  systemAuthProfile: 'default',
  gatewayReadPermissions: { type: 'AnyOf', securityLevels: [] },
  gatewayWritePermissions: { type: 'AnyOf', securityLevels: [{ name: 'Authenticated', children: [] }] },
};
const RESOURCE = {
  scope: 'A',
  version: 1,
  restricted: false,
  overridable: true,
  files: ['config.json'],
  attributes: {},
};

/**
 * commission overwrites the security properties in the data folder on the first start of a gateway, whatever was placed
 * there before. It reports whether this was the first start.
 */
export async function commission(dataFolder: string): Promise<boolean> {
  const done = join(dataFolder, CACHE, 'commissioned');
  if (await exists(done)) return false;
  const folder = join(dataFolder, SECURITY_PROPERTIES);
  await replace(join(folder, 'config.json'), `${JSON.stringify(DEFAULTS, null, 2)}\n`);
  const about = join(folder, 'resource.json');
  if (!(await exists(about))) await replace(about, `${JSON.stringify(RESOURCE, null, 2)}\n`);
  await replace(done, '');
  return true;
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

async function replace(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(`${path}.new`, content);
  await rename(`${path}.new`, path);
}
