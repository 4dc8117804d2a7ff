import { createRequire } from 'node:module';
import { dirname } from 'node:path';

/**
 * goModule is the folder of the Go module in @bowline/control-plane. The bundle has left that package's folder, so it is
 * looked up as a package; undefined, and then the library's default, when it is not installed beside the bundle.
 */
export function goModule(): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve('@bowline/control-plane/binaries/go.mod'));
  } catch {
    return undefined;
  }
}
