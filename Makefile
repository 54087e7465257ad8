# SPDX-License-Identifier: GPL-2.0
#
# Everything that a user or developer types. `make help` lists it.
# (The kernel's build system reads Kbuild, not this file.)

VERSION := 0.1.0
KVER ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KVER)/build
BUILD ?= build
PREFIX ?= /usr/local
vm := tests/vm/vm

all: modules tools

help:
	@echo 'make                 build the module (for KDIR) and the tools'
	@echo 'make modules         the module: KDIR=$(KDIR)'
	@echo 'make tools           the tools: BUILD=$(BUILD)'
	@echo 'make install         install both (PREFIX=$(PREFIX), DESTDIR=)'
	@echo 'make dkms-install    let DKMS build the module, now (for KVER=$(KVER)) and for later kernels'
	@echo 'make deb             Debian packages, in $(BUILD)/deb'
	@echo 'make demo            see it work, in a guest with a stock kernel'
	@echo 'make bench           speed beside plain XFS and overlayfs, in a guest with a stock kernel:'
	@echo '                     ROUNDS=3 SECONDS=2 ROWS="F7*" QUICK=1 KERNEL=7.3 OUT=build/bench'
	@echo 'make bench-rocksdb   db_bench by life time hints and directory streams: the same, where its'
	@echo '                     files lie; OUT=build/bench-rocksdb'
	@echo 'make check           style, unit tests, and all suites in guests; HOST=1: in this kernel'
	@echo 'make check-debug     the suites in a kernel that checks memory'
	@echo 'make check-long      what takes hours, and a kernel that checks locking'
	@echo 'make style           checkpatch, sparse, clang-format, clang-tidy, …'
	@echo 'make clean           remove what was built here (guests: tests/vm/vm gc)'
	@echo
	@echo 'demo, bench*, check* and style need root, a Debian machine and no other setup.'

modules:
	@test -e $(KDIR)/Makefile || { echo 'No kernel build tree at $(KDIR):' \
		'install the headers of your kernel, or give KDIR=' >&2; exit 1; }
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

tools:
	cmake -S userspace -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	cmake --build $(BUILD) --parallel

install: all
	$(MAKE) -C $(KDIR) M=$(CURDIR) INSTALL_MOD_PATH=$(DESTDIR) modules_install
	cmake --install $(BUILD)
	install -d $(DESTDIR)$(PREFIX)/include/linux
	install -m 644 uapi/linux/*.h $(DESTDIR)$(PREFIX)/include/linux
	install -d $(DESTDIR)$(PREFIX)/sbin
	install -m 755 userspace/sbin/* $(DESTDIR)$(PREFIX)/sbin

dkms-install:
	@command -v dkms >/dev/null || { echo 'dkms is missing: apt-get install dkms' >&2; exit 1; }
	if dkms status wsfs/$(VERSION) | grep -q .; then dkms remove wsfs/$(VERSION) --all; fi
	rm -rf /usr/src/wsfs-$(VERSION)
	packaging/source.sh /usr/src/wsfs-$(VERSION) Kbuild dkms.conf module uapi
	dkms add wsfs/$(VERSION)
	dkms install wsfs/$(VERSION) -k $(KVER)

deb:
	packaging/deb.sh $(BUILD)/deb

host-packages:
	@tests/vm/host-packages.sh

demo: host-packages
	tests/vm/demo.sh

# As arguments: bash has a SECONDS of its own.
bench_options = $(if $(ROUNDS),--rounds '$(ROUNDS)') $(if $(SECONDS),--seconds '$(SECONDS)') \
	$(if $(ROWS),--rows '$(ROWS)') $(if $(filter 1,$(QUICK)),--quick)

bench: host-packages
	tests/vm/bench.sh $(bench_options)

bench-rocksdb: host-packages
	OUT='$(or $(OUT),$(BUILD)/bench-rocksdb)' tests/vm/bench.sh --suite rocksdb $(bench_options)

check: host-packages
	$(vm) check $(if $(filter 1,$(HOST)),check-host,check)

check-debug check-long style: host-packages
	$(vm) check $@

clean:
	if [ -e $(KDIR)/Makefile ]; then $(MAKE) -C $(KDIR) M=$(CURDIR) clean; fi
	rm -rf $(BUILD)

.PHONY: all help modules tools install dkms-install deb host-packages demo bench bench-rocksdb check
.PHONY: check-debug check-long style clean
