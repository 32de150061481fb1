//go:build !linux

package process

import "errors"

func onCore(core int, start func() error) error {
	if core == Anywhere {
		return start()
	}
	return errors.New("binding to a core needs Linux")
}
