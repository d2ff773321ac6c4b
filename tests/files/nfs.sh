#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command with TMPDIR on an NFS mount (version 4.2, or VERSION), also on a machine whose kernel has no NFS: a Linux in user
# mode serves a folder in its memory to itself. In it the machine's files are read-only.
#
#   tests/files/nfs.sh /usr/bin/python3 tests/files/kills.py 100
#
# Needs root, and from Debian user-mode-linux nfs-kernel-server nfs-common rpcbind kmod. Variables RECOLLECT_* and OMP_* are passed on.
set -u
if [ $$ -ne 1 ]; then
  given=$(mktemp -d)
  trap 'rm -rf "$given"' EXIT
  {
    declare -px | grep -E ' (RECOLLECT_|OMP_)' || true
    printf 'cd %q\n' "$PWD"
    printf '%q ' "$@"
  } >"$given/command"
  linux.uml "mem=${MEMORY:-2500M}" root=/dev/root rootfstype=hostfs rootflags=/ ro "init=$(realpath "$0")" "given=$given" \
    ${VERSION:+"VERSION=$VERSION"} con=null con0=null,fd:1 quiet </dev/null 2>/dev/null | tee "$given/said" | sed -u '/^nfs.sh: status /,$d'
  exit "$(sed -n 's/^nfs.sh: status \([0-9]*\).*/\1/p' "$given/said" | grep . || echo 1)"
fi

export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ PYTHONDONTWRITEBYTECODE=1
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
mount -t tmpfs -o size=1200M tmpfs /mnt
mount -t tmpfs tmpfs /var/lib/nfs
mkdir -p /dev/shm /mnt/export /mnt/nfs /mnt/modules/lib /var/lib/nfs/{sm,rpc_pipefs,v4recovery,nfsdcltrack}
ln -s /usr/lib/uml/modules /mnt/modules/lib/modules
for module in nfsd nfsv3 nfsv4; do modprobe -d /mnt/modules "$module"; done
ip link set lo up
mount -t nfsd nfsd /proc/fs/nfsd
mount -t rpc_pipefs rpc /var/lib/nfs/rpc_pipefs
touch /var/lib/nfs/{etab,rmtab,xtab}
rpcbind -w && rpc.statd --no-notify
exportfs -o rw,no_root_squash,fsid=0,insecure,no_subtree_check '*:/mnt/export'
rpc.nfsd --grace-time 10 --lease-time 10 2 2>/dev/null
rpc.mountd 2>/dev/null
mount -t nfs -o "vers=${VERSION:-4.2}" "127.0.0.1:/$([ "${VERSION:-}" = 3 ] && echo mnt/export)" /mnt/nfs
grep /mnt/nfs /proc/mounts
sleep 11 # the server's time of grace after its start, in which it gives no locks
export TMPDIR=/mnt/nfs
(. "$given/command")
echo "nfs.sh: status $?"
sync
echo o >/proc/sysrq-trigger
sleep 60
