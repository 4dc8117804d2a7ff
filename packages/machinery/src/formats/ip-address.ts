/**
 * parseIp parses an IP address into 4 or 16 bytes, or returns undefined. Zones (`fe80::1%eth0`) are rejected. `sloppy`
 * accepts leading zeros in dotted numbers, as Kubernetes still does in some places.
 */
export function parseIp(text: string, options: { readonly sloppy?: boolean } = {}): Uint8Array | undefined {
  return text.includes(':') ? parseIpv6(text, options.sloppy === true) : parseIpv4(text, options.sloppy === true);
}

function parseIpv4(text: string, sloppy: boolean): Uint8Array | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  const bytes = new Uint8Array(4);
  for (const [index, part] of parts.entries()) {
    // Ten digits allow for any reasonable number of leading zeros and limit the work.
    if (!/^[0-9]{1,10}$/.test(part) || (!sloppy && part.length > 1 && part.startsWith('0'))) return undefined;
    const number = Number(part);
    if (number > 255) return undefined;
    bytes[index] = number;
  }
  return bytes;
}

function parseIpv6(text: string, sloppy: boolean): Uint8Array | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const head = groupsOf(halves[0] ?? '', sloppy);
  const tail = halves.length === 2 ? groupsOf(halves[1] ?? '', sloppy) : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  // `::` stands for at least one group.
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  // Dotted numbers are only allowed at the end of the address, so not before `::`.
  if (halves.length === 2 && halves[0]?.includes('.')) return undefined;
  const groups = [...head, ...new Array<number>(missing).fill(0), ...tail];
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

function groupsOf(text: string, sloppy: boolean): number[] | undefined {
  if (text === '') return [];
  const parts = text.split(':');
  const groups: number[] = [];
  for (const [index, part] of parts.entries()) {
    if (index === parts.length - 1 && part.includes('.')) {
      const bytes = parseIpv4(part, sloppy);
      if (bytes === undefined) return undefined;
      const [a = 0, b = 0, c = 0, d = 0] = bytes;
      groups.push((a << 8) | b, (c << 8) | d);
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) {
      groups.push(Number.parseInt(part, 16));
    } else {
      return undefined;
    }
  }
  return groups;
}

/** isMappedIpv4 reports whether an address is an IPv4 address in IPv6 form (`::ffff:1.2.3.4`). */
export function isMappedIpv4(bytes: Uint8Array): boolean {
  return (
    bytes.length === 16 && bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255
  );
}

/** parsePrefixLength parses the number after the slash of a CIDR. */
export function parsePrefixLength(
  text: string,
  addressBytes: number,
  options: { readonly sloppy?: boolean } = {},
): number | undefined {
  if (!/^[0-9]{1,10}$/.test(text) || (options.sloppy !== true && text.length > 1 && text.startsWith('0')))
    return undefined;
  const length = Number(text);
  return length <= addressBytes * 8 ? length : undefined;
}
