
Jxfff?Аz©ffФ╬fff?Аz©ffФ╬fff?Аz©ffФ╬{n?Аz■╬ffФ╬{n?Аz■╬ffФ╬)\O?╦@млл>)\O?╦@млл>вё╟©╝Ga©ЛQ8╬вё╟©╝Ga©ЛQ8╬млл©ЛQ8©)\O?