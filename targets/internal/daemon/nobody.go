package daemon

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// Unprivileged are the attributes of a process that does not run as root: none
// if this one does not, else those of the user nobody.
func Unprivileged() (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return &syscall.SysProcAttr{}, nil
	}
	uid, gid, err := nobody()
	if err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// Folder creates a folder that the processes can write to.
func Folder(pattern string) (string, error) {
	dir, err := os.MkdirTemp("", pattern)
	if err != nil || os.Geteuid() != 0 {
		return dir, err
	}
	uid, gid, err := nobody()
	if err != nil {
		return dir, err
	}
	return dir, os.Chown(dir, uid, gid)
}

func nobody() (uid, gid int, err error) {
	u, err := user.Lookup("nobody")
	if err != nil {
		return 0, 0, fmt.Errorf("find a user that is not root: %w", err)
	}
	uid, err = strconv.Atoi(u.Uid)
	if err != nil {
		return 0, 0, fmt.Errorf("id of the user nobody: %w", err)
	}
	gid, err = strconv.Atoi(u.Gid)
	if err != nil {
		return 0, 0, fmt.Errorf("group of the user nobody: %w", err)
	}
	return uid, gid, nil
}
