// npm run image -- --output FILE [--target manager|pkcs11] [--platform linux/amd64|linux/arm64] [--name NAME:TAG]
// Writes the image as an OCI archive, with an SBOM, licences and checksums, without a container engine (docs/decisions/062).
// --update-packages selects the current versions of Debian's packages and of Node; --folders DIR is for the Dockerfile.
import { basename } from 'node:path';
import { buildImage } from './image/build-image.ts';
import { ImageError } from './image/image-error.ts';
import { parseImageCommand } from './image/image-options.ts';
import { stageFolders } from './image/stage-folders.ts';
import { updatePackages } from './image/update-packages.ts';

const log = (line: string): void => console.error(line);
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

try {
  const command = parseImageCommand(process.argv.slice(2));
  if (command.kind === 'update-packages') await updatePackages(log);
  else if (command.kind === 'folders') await stageFolders(command, log);
  else {
    const { digest, layers, size, files } = await buildImage(command, log);
    console.log(`${command.name} ${command.target} ${command.platform}`);
    console.log(`digest ${digest}`);
    for (const layer of layers) console.log(`  ${layer.name.padEnd(8)} ${megabytes(layer.size).padStart(8)}`);
    console.log(`  ${'total'.padEnd(8)} ${megabytes(size).padStart(8)}`);
    for (const file of files) console.log(`wrote ${basename(file)}`);
  }
} catch (error) {
  if (!(error instanceof ImageError)) throw error;
  console.error(`error: ${error.message}`);
  process.exitCode = 2;
}
