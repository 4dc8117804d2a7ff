import { isMappedIpv4, parseIp, parsePrefixLength } from '../../formats/ip-address.ts';
import { quoteText } from '../../json/go-text.ts';
import { overload } from '../overloads.ts';
import { CelFailure, CidrValue, IpValue } from '../values.ts';

function readIp(text: string): IpValue {
  const bytes = parseIp(text);
  if (bytes === undefined) {
    if (text.includes('%') && parseIp(text.slice(0, text.indexOf('%'))) !== undefined)
      throw new CelFailure(`IP address ${quoteText(text)} with zone value is not allowed`);
    throw new CelFailure(
      `IP Address ${quoteText(text)} parse error during conversion from string: ${addressProblem(text)}`,
    );
  }
  if (isMappedIpv4(bytes)) throw new CelFailure(`IPv4-mapped IPv6 address ${quoteText(text)} is not allowed`);
  return new IpValue(bytes);
}

function addressProblem(text: string): string {
  return `ParseAddr(${quoteText(text)}): unable to parse IP`;
}

function readCidr(text: string): CidrValue {
  const slash = text.lastIndexOf('/');
  const address = slash < 0 ? undefined : parseIp(text.slice(0, slash));
  const prefix = address === undefined ? undefined : parsePrefixLength(text.slice(slash + 1), address.length);
  // The API server repeats this text.
  const failure = 'network address parse error during conversion from string';
  if (address === undefined || prefix === undefined)
    throw new CelFailure(
      `${failure}: ${failure}: netip.ParsePrefix(${quoteText(text)}): ${cidrProblem(text, slash, address)}`,
    );
  if (isMappedIpv4(address))
    throw new CelFailure(`${failure}: IPv4-mapped IPv6 address ${quoteText(text)} is not allowed`);
  return new CidrValue(address, prefix);
}

function cidrProblem(text: string, slash: number, address: Uint8Array | undefined): string {
  if (slash < 0) return "no '/'";
  if (address === undefined) return addressProblem(text.slice(0, slash));
  const bits = text.slice(slash + 1);
  return /^(?:0|[1-9][0-9]*)$/.test(bits) ? 'prefix length out of range' : `bad bits after slash: ${quoteText(bits)}`;
}

function succeeds(read: (text: string) => unknown): (text: string) => boolean {
  return (text) => {
    try {
      read(text);
      return true;
    } catch {
      return false;
    }
  };
}

/** formatIp formats an address in its canonical form: lower case, the longest run of zeros as `::`. */
function formatIp(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, index) => ((bytes[index * 2] ?? 0) << 8) | (bytes[index * 2 + 1] ?? 0));
  let start = -1;
  let longest = 1;
  for (let from = 0; from < 8; from++) {
    let to = from;
    while (to < 8 && groups[to] === 0) to++;
    if (to - from > longest) {
      start = from;
      longest = to - from;
    }
  }
  const hex = groups.map((group) => group.toString(16));
  if (start < 0) return hex.join(':');
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + longest).join(':')}`;
}

function masked({ bytes, prefix }: CidrValue): CidrValue {
  const network = bytes.map((byte, index) => {
    const bits = Math.min(8, Math.max(0, prefix - index * 8));
    return byte & ((0xff << (8 - bits)) & 0xff);
  });
  return new CidrValue(network, prefix);
}

function containsIp(cidr: CidrValue, address: IpValue): boolean {
  if (cidr.bytes.length !== address.bytes.length) return false;
  const network = masked(cidr).bytes;
  return Buffer.compare(network, masked(new CidrValue(address.bytes, cidr.prefix)).bytes) === 0;
}

function containsCidr(cidr: CidrValue, other: CidrValue): boolean {
  return cidr.prefix <= other.prefix && containsIp(cidr, new IpValue(other.bytes));
}

function starts(bytes: Uint8Array, prefix: readonly number[]): boolean {
  return prefix.every((byte, index) => bytes[index] === byte);
}

function isV4({ bytes }: IpValue): boolean {
  return bytes.length === 4;
}

function isUnspecified({ bytes }: IpValue): boolean {
  return bytes.every((byte) => byte === 0);
}

function isLoopback(address: IpValue): boolean {
  if (isV4(address)) return address.bytes[0] === 127;
  return address.bytes.every((byte, index) => byte === (index === 15 ? 1 : 0));
}

function isMulticast(address: IpValue): boolean {
  const first = address.bytes[0] ?? 0;
  return isV4(address) ? first >= 224 && first < 240 : first === 0xff;
}

function isLinkLocalMulticast(address: IpValue): boolean {
  if (isV4(address)) return starts(address.bytes, [224, 0, 0]);
  return address.bytes[0] === 0xff && ((address.bytes[1] ?? 0) & 0x0f) === 0x02;
}

function isLinkLocalUnicast(address: IpValue): boolean {
  if (isV4(address)) return starts(address.bytes, [169, 254]);
  return address.bytes[0] === 0xfe && ((address.bytes[1] ?? 0) & 0xc0) === 0x80;
}

function isGlobalUnicast(address: IpValue): boolean {
  const isBroadcast = isV4(address) && address.bytes.every((byte) => byte === 255);
  return !(
    isUnspecified(address) ||
    isBroadcast ||
    isLoopback(address) ||
    isMulticast(address) ||
    isLinkLocalUnicast(address)
  );
}

/** network holds the functions on IP addresses and networks. */
export const network = [
  overload('ip(string): ip', readIp),
  overload('isIP(string): bool', succeeds(readIp)),
  overload('ip.isCanonical::(string): bool', (text: string) => formatIp(readIp(text).bytes) === text),
  overload('string(ip): string', ({ bytes }: IpValue) => formatIp(bytes)),
  overload('ip.family(): int', (address: IpValue) => (isV4(address) ? 4n : 6n)),
  overload('ip.isUnspecified(): bool', isUnspecified),
  overload('ip.isLoopback(): bool', isLoopback),
  overload('ip.isLinkLocalMulticast(): bool', isLinkLocalMulticast),
  overload('ip.isLinkLocalUnicast(): bool', isLinkLocalUnicast),
  overload('ip.isGlobalUnicast(): bool', isGlobalUnicast),
  overload('cidr(string): cidr', readCidr),
  overload('isCIDR(string): bool', succeeds(readCidr)),
  overload('string(cidr): string', ({ bytes, prefix }: CidrValue) => `${formatIp(bytes)}/${prefix}`),
  overload('cidr.ip(): ip', ({ bytes }: CidrValue) => new IpValue(bytes)),
  overload('cidr.prefixLength(): int', ({ prefix }: CidrValue) => BigInt(prefix)),
  overload('cidr.masked(): cidr', masked),
  overload('cidr.containsIP(ip): bool', containsIp),
  overload('cidr.containsIP(string): bool', (cidr: CidrValue, text: string) => containsIp(cidr, readIp(text))),
  overload('cidr.containsCIDR(cidr): bool', containsCidr),
  overload('cidr.containsCIDR(string): bool', (cidr: CidrValue, text: string) => containsCidr(cidr, readCidr(text))),
];
